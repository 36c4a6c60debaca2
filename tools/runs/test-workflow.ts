import { z } from "zod";
import { Given, givenParts } from "../../schemas/given.ts";
import { projectOf } from "../../schemas/project.ts";
import { Run } from "../../schemas/run.ts";
import { OptionalRunInputs, WaitSeconds } from "../../schemas/run-request.ts";
import { text } from "../../schemas/text.ts";
import { MAX_STEPS } from "../../schemas/workflow-definition.ts";
import { DefinitionInput, IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { readDefinition } from "../workflows/check-definition.ts";
import { assertWriteScope } from "./assert-write-scope.ts";
import { resolveGiven } from "./given-outputs.ts";
import { runActor, runCaller } from "./run-actor.ts";
import { runLocation, startAndWait } from "./start-run.ts";
import { skippedOutputs, testedDefinition, unknownStepIssue } from "./tested-steps.ts";
import { unfitOutputs } from "./unfit-outputs.ts";

const Input = z.strictObject({
  workflow_id: WorkflowIdRef,
  definition: DefinitionInput.meta({
    description: "The draft: a whole definition as an object, or its YAML or JSON text. It is not saved.",
  }),
  step_id: text(64, 1).optional().meta({
    description:
      "Only this step, and those that it waits for. Of these, steps with effects, approvals and waits are left out unless given.",
    example: "revenue",
  }),
  inputs: OptionalRunInputs.meta({
    description: "The inputs, as the draft declares them.",
    example: { since: "2026-01-01" },
  }),
  given: Given.default({}).meta({
    description:
      "Outputs that replace steps, by id; from_run takes them from a run, such as an earlier test.",
    example: { from_run: "run_8dkq2m0sfj3a", steps: ["revenue"] },
  }),
  effects: z
    .array(text(64, 1))
    .max(MAX_STEPS)
    .default([])
    .meta({ description: "Steps whose effects happen: the others are held back.", example: ["send"] }),
  wait: WaitSeconds.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
type TestInput = z.output<typeof Input>;

export const testWorkflow = defineTool({
  name: "test_workflow",
  title: "Test a draft",
  description:
    "Runs a definition that is not saved, or one step of it, as a trial: effects are held back except those of the steps in effects. Scopes: run and write.",
  route: "POST /workflows/:workflow_id/test",
  scope: "run",
  effect: "act",
  // For editors: agents try a draft with run_workflow and given, and a step with run_step.
  surfaces: ["rest"],
  selectable: true,
  readsValues: true,
  openWorld: true,
  errors: [
    "workflow_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  // Those of its fields would name steps and a run that do not exist.
  example: {
    definition: {
      inputs: { type: "object", properties: { name: { type: "string" } } },
      steps: [{ id: "hello", type: "set", values: { greeting: "Good morning, ${{ inputs.name }}" } }],
    },
    step_id: "hello",
    inputs: { name: "Ada" },
    wait: 20,
  },
  input: Input,
  output: Run,
  pollLocation: runLocation,
  run: (input, ctx) =>
    startAndWait(ctx, () => prepare(ctx, input), {
      wait: input.wait,
      repeatable: input.idempotency_key !== undefined,
    }),
});

async function prepare(ctx: ToolContext, input: TestInput): Promise<PreparedRun> {
  const { inputs, given, effects, step_id: stepId } = input;
  const workflow = await findWorkflow(ctx.read.workflows, input.workflow_id);
  assertWriteScope(
    ctx,
    projectOf(workflow),
    "test_workflow needs a key with the scope write too, because it runs a definition that is not saved. Run the saved " +
      "workflow instead (run_workflow), or use another key.",
  );
  const options = { project: projectOf(workflow), selfId: workflow.id };
  const draft = await readDefinition(ctx, input.definition, options);
  const definition = stepId === undefined ? draft.definition : testedDefinition(draft.definition, stepId);
  // Issues of steps that are left out do not keep a step from being tested.
  const { issues } = stepId === undefined ? draft : await readDefinition(ctx, definition, options);
  if (issues.length > 0) {
    throw new AppError(
      "workflow_not_runnable",
      `The draft has ${issues.length} issue${issues.length === 1 ? "" : "s"}, so nothing was started: ` +
        `${issues[0]!.path || "the definition"} ${issues[0]!.message}. Fix the draft and send it again.`,
      { errors: issues },
    );
  }
  const unknown = effects.flatMap((id, index) => unknownStepIssue(definition, `effects[${index}]`, id) ?? []);
  if (unknown.length > 0) throw invalidInput(unknown);
  const resolved = await resolveGiven(ctx, given, { path: "given", definition });
  if ("issues" in resolved) throw invalidInput(resolved.issues);
  const unfit = await unfitOutputs(ctx, workflow, definition, givenParts(given).outputs);
  if (unfit.length > 0) throw invalidInput(unfit);
  const skipped =
    stepId === undefined ? {} : skippedOutputs(ctx.engine.stepTypes, definition, { stepId, effects });
  return ctx.engine.prepareRun({
    workflowId: workflow.id,
    version: workflow.version,
    definition,
    caller: runCaller(ctx),
    inputs,
    trial: { given: { ...skipped, ...resolved.given }, effects },
    actor: runActor(ctx),
    trigger: ctx.actor.client.surface,
    trace: ctx.trace,
  });
}
