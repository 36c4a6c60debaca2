import { z } from "zod";
import { Run, RunId, RunInputs, WaitSeconds } from "../../schemas/run.ts";
import { DefinitionInput, IdempotencyKey, Version } from "../../schemas/workflow.ts";
import { canonicalJson } from "../../src/core/canonical-json.ts";
import type { PreparedRun } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { readDefinition } from "../workflows/check-definition.ts";
import { applyPatch, Patch } from "../workflows/patch.ts";
import { findRun } from "./find-run.ts";
import { findRepeatedEffects } from "./retry-effects.ts";
import { runActor } from "./run-actor.ts";
import { hasEnded } from "./run-response.ts";
import { runLocation, startAndWait } from "./start-run.ts";

const Input = z.strictObject({
  run_id: RunId,
  patch: Patch.optional().meta({
    description: "Changes to the run's definition, only for this retry; as in update_workflow.",
    example: [{ op: "update_step", id: "revenue", set: { database: "shop" } }],
  }),
  definition: DefinitionInput.optional().meta({ description: "Instead of patch: a whole definition." }),
  version: Version.optional().meta({
    description: "Instead of patch: another version of the workflow.",
    example: 3,
  }),
  inputs: RunInputs.optional().meta({
    description: "Default: the inputs of the run.",
    example: { since: "2026-01-01" },
  }),
  confirm: z.boolean().default(false).meta({
    description: "Whether steps with effects may run again; without it, the error lists which would.",
    example: false,
  }),
  wait: WaitSeconds.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
type RetryInput = z.output<typeof Input>;

export const retryRun = defineTool({
  name: "retry_run",
  title: "Retry a run",
  description:
    "Starts a new run that repeats an ended one: outputs of succeeded steps are reused, the rest runs again. patch tries " +
    "a changed definition; save it with update_workflow. Waits like run_workflow.",
  route: "POST /runs/:run_id/retry",
  scope: "run",
  effect: "act",
  openWorld: true,
  errors: [
    "run_not_found",
    "run_not_finished",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "confirmation_needed",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  output: Run,
  pollLocation: runLocation,
  run: (input, ctx) =>
    startAndWait(ctx, () => prepareRetry(ctx, input), {
      wait: input.wait,
      repeatable: input.idempotency_key !== undefined,
    }),
});

async function prepareRetry(ctx: ToolContext, input: RetryInput): Promise<PreparedRun> {
  assertOneSource(input);
  if (input.patch !== undefined || input.definition !== undefined) assertWriteScope(ctx);
  const run = await findRun(ctx.read.runs, input.run_id);
  if (!hasEnded(run)) {
    throw new AppError(
      "run_not_finished",
      `The run ${run.id} has not ended (${run.status}). Wait for its end with get_run, or stop it with cancel_run ` +
        `(POST /runs/${run.id}/cancel); then retry it.`,
    );
  }
  const definition = await changedDefinition(ctx, run, input);
  const inputs = input.inputs ?? (await ctx.read.runs.inputs(run.id));
  const prepared = await ctx.engine.prepareRun({
    workflowId: run.workflowId,
    version: input.version ?? run.version,
    definition,
    inputs,
    actor: runActor(ctx),
    trigger: ctx.actor.client.surface,
    trace: ctx.trace,
    retryOf: run,
    ...(run.scheduledFor !== null && { scheduledFor: run.scheduledFor }),
  });
  if (!input.confirm) await assertNoRepeatedEffects(ctx, run, prepared);
  return prepared;
}

/** A changed definition is new code, which the scope run does not allow. */
function assertWriteScope({ actor }: ToolContext): void {
  if (actor.principal.scopes.has("write")) return;
  const message = "needs a key with the scope write";
  throw new AppError(
    "missing_scope",
    "A retry with a changed definition needs a key with the scope write, because it runs a definition that is not saved. " +
      "Retry without patch and definition, or use another key.",
    { errors: [{ path: "", code: "missing_scope", message, allowed: ["write"] }] },
  );
}

const SOURCES = ["definition", "version", "patch"] as const;

function assertOneSource(input: RetryInput): void {
  const [first, ...others] = SOURCES.filter((name) => input[name] !== undefined);
  if (others.length === 0) return;
  throw invalidInput(
    others.map((path) => ({
      path,
      code: "not_allowed",
      message: `can't be combined with ${first}`,
      fix: "Send only one of definition, version and patch.",
    })),
  );
}

/** A changed definition, or the run's own one; undefined to use the definition of the version. */
async function changedDefinition(
  ctx: ToolContext,
  run: RunRecord,
  { patch, definition, version }: RetryInput,
): Promise<Record<string, unknown> | undefined> {
  if (version !== undefined) return undefined;
  if (patch === undefined && definition === undefined) return run.definition ?? undefined;
  const base = run.definition ?? (await ctx.read.runs.versionDefinition(run.workflowId, run.version));
  const source = patch === undefined ? definition : applyPatch(base, patch);
  const read = await readDefinition(ctx, source, run.workflowId);
  if (read.issues.length === 0) return read.definition;
  const [first] = read.issues;
  throw new AppError(
    "workflow_not_runnable",
    `The changed definition has ${read.issues.length} issue${read.issues.length === 1 ? "" : "s"}, so nothing was started: ` +
      `${first!.path || "the definition"} ${first!.message}. Fix the patch and send it again.`,
    { errors: read.issues },
  );
}

/** @throws AppError confirmation_needed with the steps that may repeat an effect */
async function assertNoRepeatedEffects(
  ctx: ToolContext,
  run: RunRecord,
  prepared: PreparedRun,
): Promise<void> {
  const [originalDefinition, definition, records, inputs, outdated] = await Promise.all([
    ctx.engine.getDefinition(run),
    ctx.engine.getDefinition(prepared),
    ctx.read.runs.steps(run.id),
    ctx.read.runs.inputs(run.id),
    ctx.engine.outdatedDecisions(run, prepared),
  ]);
  const inputsChanged = canonicalJson(prepared.inputs) !== canonicalJson(inputs);
  const errors = findRepeatedEffects(
    run.id,
    { definition: originalDefinition, records },
    { definition, inputsChanged, outdated },
    ctx.engine.stepTypes,
  );
  if (errors.length === 0) return;
  throw new AppError(
    "confirmation_needed",
    `Nothing was started: ${errors.map(({ message }) => message).join("; ")}. ` +
      "If that is intended, send the same request with confirm: true.",
    { errors },
  );
}
