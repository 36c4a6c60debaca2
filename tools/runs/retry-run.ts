import { z } from "zod";
import { projectOf } from "../../schemas/project.ts";
import { type RetrySteps, Run, RunId, RunInputs, WaitSeconds } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { DefinitionInput, IdempotencyKey, Version } from "../../schemas/workflow.ts";
import type { PreparedRun, RetryPlan } from "../../src/core/engine-port.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { RunRecord } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { assertMayRunUnsaved } from "../../src/core/unsaved-runs.ts";
import { retryRequest } from "../../src/engine/executor/retry-request.ts";
import { itemWords } from "../../src/engine/executor/retry-plan.ts";
import { readDefinition } from "../workflows/check-definition.ts";
import { applyPatch, Patch } from "../workflows/patch.ts";
import { findRun } from "./find-run.ts";
import { runActor, runCaller } from "./run-actor.ts";
import { buildRunResponse, hasEnded } from "./run-response.ts";
import { outputChars, runLocation, startAndWait } from "./start-run.ts";

const Input = z.strictObject({
  run_id: RunId,
  patch: Patch.optional()
    .meta({
      description: "Changes to the run's definition, only for this retry; as in update_workflow.",
      example: [{ op: "update_step", id: "revenue", set: { database: "shop" } }],
    })
    .register(shortSchemas, {
      type: "array",
      items: { type: "object" },
      description: "Changes to the run's definition, only for this retry; as in update_workflow.",
    }),
  definition: DefinitionInput.optional()
    .meta({ description: "Instead of patch: a whole definition." })
    .register(shortSchemas, {
      type: "object",
      additionalProperties: true,
      description: "Instead of patch: a whole definition, or its text.",
    }),
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
  dry_run: z.boolean().default(false).meta({
    description: "Starts nothing: retry in the answer says what would be reused and run.",
    example: true,
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
  selectable: true,
  readsValues: true,
  openWorld: true,
  errors: [
    "run_not_found",
    "workflow_not_found",
    "run_not_finished",
    "version_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "confirmation_needed",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  example: { dry_run: true },
  output: Run,
  pollLocation: runLocation,
  async run(input, ctx) {
    if (input.dry_run) return describeRetry(ctx, input);
    let planned: RetrySteps | undefined;
    const prepare = async (): Promise<PreparedRun> => {
      const { prepared, plan } = await prepareRetry(ctx, input);
      if (plan.issues.length > 0 && !input.confirm) throw confirmationNeeded(plan);
      planned = stepsOf(plan);
      return prepared;
    };
    const started = await startAndWait(ctx, prepare, {
      wait: input.wait,
      repeatable: input.idempotency_key !== undefined,
    });
    return { ...(planned !== undefined && { retry: planned }), ...started };
  },
});

const stepsOf = ({ reused, run, effects, items }: RetryPlan): RetrySteps => ({
  reused,
  run,
  effects,
  ...(items.size > 0 && { items: Object.fromEntries(items) }),
});

/** The run as it is, with what a retry would do. Nothing is written. */
async function describeRetry(ctx: ToolContext, input: RetryInput): Promise<Run> {
  const { run, plan } = await prepareRetry(ctx, input);
  const words = retryWords(plan);
  const confirm = plan.issues.length > 0 ? " with confirm: true, because effects would be repeated" : "";
  return {
    ...(await buildRunResponse(ctx, run, outputChars(ctx))),
    retry: stepsOf(plan),
    next: `Nothing was started. A retry would ${words}. To start it, send the same request without dry_run${confirm}.`,
  };
}

const listed = (ids: readonly string[]): string => (ids.length === 0 ? "no step" : ids.join(", "));

/** What a retry would do, as the rest of a sentence. */
function retryWords({ reused, run, effects, items }: RetryPlan): string {
  const counted = run.map((id) => {
    const counts = items.get(id);
    return counts === undefined ? id : `${id} (${itemWords(counts)})`;
  });
  return (
    `reuse the outputs of ${listed(reused)}, which are not executed again, and run ${listed(counted)}; ` +
    (effects.length === 0 ? "none of these has effects" : `with effects: ${effects.join(", ")}`)
  );
}

/** A retry that is ready to start, and what it would do. */
interface PreparedRetry {
  run: RunRecord;
  prepared: PreparedRun;
  plan: RetryPlan;
}

async function prepareRetry(ctx: ToolContext, input: RetryInput): Promise<PreparedRetry> {
  assertOneSource(input);
  const run = await findRun(ctx.read.runs, input.run_id);
  if (run.workflowId === null) assertSameStep(input);
  if (!hasEnded(run)) {
    throw new AppError(
      "run_not_finished",
      `The run ${run.id} has not ended (${run.status}). Wait for its end with get_run, or stop it with cancel_run ` +
        `(POST /runs/${run.id}/cancel); then retry it.`,
    );
  }
  const request = await retryRequest(
    ctx.read.runs,
    run,
    {
      caller: runCaller(ctx),
      actor: runActor(ctx),
      trigger: ctx.actor.client.surface,
      trace: ctx.trace,
    },
    {
      version: input.version,
      definition: await changedDefinition(ctx, run, input),
      inputs: input.inputs,
    },
  );
  const prepared = await ctx.engine.prepareRun(request);
  return { run, prepared, plan: await ctx.engine.planRetry(run, prepared) };
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

/** A single step is retried as it was. */
function assertSameStep(input: RetryInput): void {
  const changes = SOURCES.filter((name) => input[name] !== undefined);
  if (changes.length === 0) return;
  throw invalidInput(
    changes.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be used with a run of a single step",
      fix: "Send the changed step with run_step.",
    })),
  );
}

/** @returns undefined to use the definition of the run, or of the version */
async function changedDefinition(
  ctx: ToolContext,
  { workflowId, version, definition: own }: RunRecord,
  { patch, definition }: RetryInput,
): Promise<Record<string, unknown> | undefined> {
  if (workflowId === null || (patch === undefined && definition === undefined)) return undefined;
  // It may have been moved to a project that the caller can't see.
  const project = projectOf(await findWorkflow(ctx.read.workflows, workflowId));
  // Before the definition is checked, which says more than the caller can use.
  assertMayRunUnsaved(ctx.actor.principal, project, "definition");
  const base = own ?? (await ctx.read.runs.versionDefinition(workflowId, version));
  const source = patch === undefined ? definition : applyPatch(base, patch);
  const read = await readDefinition(ctx, source, {
    project,
    selfId: workflowId,
  });
  if (read.issues.length === 0) return read.definition;
  const [first] = read.issues;
  throw new AppError(
    "workflow_not_runnable",
    `The changed definition has ${read.issues.length} issue${read.issues.length === 1 ? "" : "s"}, so nothing was started: ` +
      `${first!.path || "the definition"} ${first!.message}. Fix the patch and send it again.`,
    { errors: read.issues },
  );
}

function confirmationNeeded(plan: RetryPlan): AppError {
  const { issues } = plan;
  return new AppError(
    "confirmation_needed",
    `Nothing was started: ${issues.map(({ message }) => message).join("; ")}. A retry would ${retryWords(plan)}. ` +
      "If that is intended, send the same request with confirm: true.",
    { errors: issues },
  );
}
