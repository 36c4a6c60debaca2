import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { ANY, objectOf, STRING, type Shape } from "../core/shapes.ts";
import { defineStepType, literal, template } from "../core/step-type.ts";
import { argumentIssues } from "./arguments.ts";
import { asWritten } from "./as-written.ts";
import { unknownWorkflow } from "./unknown-workflow.ts";

/** A workflow without `inputs` accepts none. */
const NO_INPUTS = { type: "object", properties: {} };

const outputOf = (output: Shape): Shape => objectOf({ output, run_id: STRING });

export const workflowStep = defineStepType({
  type: "workflow",
  title: "Run a workflow",
  description:
    "Runs another workflow and waits for it, in the version published when the run started. Its output is in output. It fails with child_failed, or with child_cancelled.",
  fields: {
    workflow: literal(
      text(200, 1).meta({ description: "The id of the workflow.", example: "weekly-revenue" }),
    ),
    inputs: template(
      z
        .record(z.string(), z.unknown())
        .default({})
        .meta({ description: "The inputs of its run.", example: { since: "${{ inputs.since }}" } }),
    ),
  },
  example: {
    id: "revenue",
    type: "workflow",
    workflow: "weekly-revenue",
    inputs: { since: "${{ inputs.since }}" },
  },
  output: outputOf(ANY),
  timeoutMs: null,
  // The other workflow may have any effects. The engine does not repeat its recorded steps.
  hasEffects: () => true,
  // Its run is a trial too.
  runsInTrial: () => true,
  resource: () => null,
  mayRestOnDecision: true,
  describeEffect: ({ workflow }, { versionOf }) => {
    const version = versionOf(String(workflow));
    const name = asWritten(workflow);
    const words =
      version === null ? `Runs ${name}, which does not exist` : `Runs version ${version} of ${name}`;
    return { words, does: "runs", targets: [name] };
  },
  check: async (step, ctx) => {
    const id = step["workflow"];
    if (typeof id !== "string") return { issues: [] };
    const found = await ctx.workflow(id);
    if (found === undefined)
      return { issues: [{ path: ["workflow"], ...unknownWorkflow(id, await ctx.workflowIds()) }] };
    return {
      issues: [
        ...(found.obstacle === undefined ? [] : [{ path: ["workflow"], ...found.obstacle }]),
        ...argumentIssues("inputs", found.inputs ?? NO_INPUTS, step, ctx),
      ],
      output: outputOf(found.output),
    };
  },
  run: ({ workflow, inputs }) => Promise.resolve({ kind: "child", workflow, inputs }),
});
