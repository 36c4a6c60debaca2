import { z } from "zod";
import { ProjectInput } from "../../schemas/project.ts";
import { Run, RunInputs, WaitSeconds } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { IdempotencyKey, WorkflowDefinition } from "../../schemas/workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";
import { readInputSources } from "./input-sources.ts";
import { prepareSingleStep } from "./single-step.ts";
import { runLocation, startAndWait } from "./start-run.ts";

/** Maximum number of inputs that are taken from runs. */
const MAX_SOURCES = 50;

const Input = z.strictObject({
  step: WorkflowDefinition.meta({
    type: "object",
    additionalProperties: true,
    description: "As in a definition: type and its fields.",
    example: { type: "set", values: { greeting: "Hi, ${{ inputs.name }}" } },
  }).register(shortSchemas, {
    type: "object",
    additionalProperties: true,
    description: "As in a definition: type and its fields.",
  }),
  inputs: RunInputs.default({}).meta({
    description: "Values of inputs.<name>.",
  }),
  from: z
    .record(z.string(), z.string())
    .refine((sources) => Object.keys(sources).length <= MAX_SOURCES, {
      message: `must not have more than ${MAX_SOURCES} names`,
    })
    .default({})
    .meta({ description: "Inputs from runs: run_8dkq2m0sfj3a.rows[0].id." }),
  project: ProjectInput,
  wait: WaitSeconds.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
type StepInput = z.output<typeof Input>;

export const runStep = defineTool({
  name: "run_step",
  title: "Run a single step",
  description: "Runs one step, with its effects, as a recorded run of no workflow. Scopes: run and write.",
  route: "POST /runs",
  scope: "run",
  effect: "act",
  selectable: true,
  readsValues: true,
  openWorld: true,
  errors: [
    "project_not_found",
    "run_not_found",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  example: {
    step: { type: "set", values: { greeting: "Hi, ${{ inputs.name }}" } },
    inputs: { name: "Ann" },
  },
  output: Run,
  pollLocation: runLocation,
  run: (input, ctx) =>
    startAndWait(ctx, () => prepare(ctx, input), {
      wait: input.wait,
      repeatable: input.idempotency_key !== undefined,
    }),
});

async function prepare(ctx: ToolContext, { step, inputs, from, project: requested }: StepInput) {
  const project = await projectFor(ctx, "run", requested);
  const twice = Object.keys(from).filter((name) => Object.hasOwn(inputs, name));
  if (twice.length > 0)
    throw invalidInput(
      twice.map((name) => ({
        path: `from.${name}`,
        code: "duplicate",
        message: "has the name of one of the inputs",
        fix: "Give it in inputs or in from.",
      })),
    );
  const taken = await readInputSources(ctx, from);
  return prepareSingleStep(ctx, { project, step, inputs: { ...inputs, ...taken }, from }, (path) =>
    path === "" ? "step" : `step.${path}`,
  );
}
