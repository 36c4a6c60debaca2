import { z } from "zod";
import { RunId } from "../../schemas/run.ts";
import { Version, WorkflowDefinition } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { writtenDefinition } from "./written-definition.ts";

export const getRunDefinition = defineTool({
  name: "get_run_definition",
  title: "Get the definition of a run",
  description:
    "Returns the definition that a run uses, as it was written: that of its version, the changed one of a retry, or that of " +
    "a single step.",
  route: "GET /runs/:run_id/definition",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["run_not_found"],
  input: z.strictObject({ run_id: RunId }),
  output: z
    .strictObject({
      workflow_id: z
        .string()
        .nullable()
        .meta({ description: "Null for a single step.", example: "weekly-revenue" }),
      version: Version.nullable().meta({
        description: "The version of the workflow that it runs; null for a single step.",
        example: 3,
      }),
      patched: z
        .boolean()
        .meta({ description: "Whether the run has a changed definition of its own.", example: false }),
      definition: WorkflowDefinition,
    })
    .meta({ id: "RunDefinition", description: "The definition of a run." }),
  async run({ run_id }, ctx) {
    const run = await findRun(ctx.read.runs, run_id);
    const { workflowId, version, definition: own } = run;
    return {
      workflow_id: workflowId,
      version: workflowId === null ? null : version,
      patched: workflowId !== null && own !== null,
      definition: await writtenDefinition(ctx.read.runs, run),
    };
  },
});
