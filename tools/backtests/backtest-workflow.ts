import { z } from "zod";
import { Backtest, BacktestId, BacktestReads } from "../../schemas/backtest.ts";
import { MAX_BACKTEST_RUNS } from "../../schemas/backtest-rule.ts";
import { Given } from "../../schemas/given.ts";
import { projectOf } from "../../schemas/project.ts";
import { TimestampInput, WaitSeconds } from "../../schemas/run.ts";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import {
  DefinitionInput,
  IdempotencyKey,
  Version,
  WorkflowIdRef,
  type WorkflowWithDefinition,
} from "../../schemas/workflow.ts";
import type { BacktestRecord } from "../../src/core/backtest-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { Trial } from "../../src/core/model.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { assertMayRunUnsaved } from "../../src/core/unsaved-runs.ts";
import { resolveGiven } from "../runs/given-outputs.ts";
import { resolveWaitSeconds } from "../runs/wait-for-run.ts";
import { readDefinition } from "../workflows/check-definition.ts";
import { findVersion } from "../workflows/find-version.ts";
import { applyPatch, Patch } from "../workflows/patch.ts";
import { findBacktest, toBacktest } from "./serialize-backtest.ts";
import { toIso } from "../runs/run-page.ts";
import { sourceRuns } from "./source-runs.ts";
import { prepareBacktest, type PreparedBacktest, saveBacktest } from "./start-backtest.ts";
import { waitForBacktest } from "./wait-for-backtest.ts";

const DEFAULT_LAST = 100;

const Input = z.strictObject({
  workflow_id: WorkflowIdRef,
  patch: Patch.optional()
    .meta({
      description: "Tests this change of the definition, which is not saved; as in update_workflow.",
      example: [{ op: "update_step", id: "revenue", set: { database: "shop" } }],
    })
    .register(shortSchemas, {
      type: "array",
      items: { type: "object" },
      description: "Tests a change that is not saved; as in update_workflow.",
    }),
  definition: DefinitionInput.optional()
    .meta({ description: "Instead of patch: a whole definition." })
    .register(shortSchemas, {
      type: "object",
      additionalProperties: true,
      description: "Instead of patch.",
    }),
  version: Version.optional().meta({ description: "Default: the newest.", example: 3 }),
  last: z
    .int()
    .min(1)
    .max(MAX_BACKTEST_RUNS)
    .default(DEFAULT_LAST)
    .meta({ description: "Number of runs, the newest ones.", example: 200 }),
  status: z
    .enum(["succeeded", "failed"])
    .optional()
    .meta({ description: "Only runs that ended so.", example: "succeeded" }),
  since: TimestampInput.optional().meta({
    description: "Only runs created at or after this.",
    example: "2026-11-21",
  }),
  until: TimestampInput.optional().meta({
    description: "Only runs created before this.",
    example: "2026-11-22",
  }),
  run_version: Version.optional().meta({ description: "Only runs of this version.", example: 2 }),
  source_workflow_id: WorkflowIdRef.optional().meta({
    description: "Takes the runs of another workflow.",
    example: "revenue-old",
  }),
  reads: BacktestReads.default("recorded").register(shortSchemas, {
    enum: BacktestReads.options,
    default: "recorded",
    description: "Of changed queries: `live` runs them, `recorded` leaves their runs out.",
  }),
  given: Given.optional().meta({
    description: "Outputs of new steps, by id.",
    example: { send: {} },
  }),
  backtest_id: BacktestId.optional().meta({
    description: "Starts none: waits for this one.",
    example: "bt_8dkq2m0sfj3a",
  }),
  wait: WaitSeconds.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
type Input = z.output<typeof Input>;

export const backtestWorkflow = defineTool({
  name: "backtest_workflow",
  title: "Backtest a workflow",
  description:
    "Runs past runs again with a changed workflow, without effects, and compares: which runs would differ, fail, or send something else.",
  route: "POST /workflows/:workflow_id/backtests",
  scope: "run",
  effect: "act",
  selectable: true,
  readsValues: true,
  openWorld: true,
  errors: [
    "workflow_not_found",
    "version_not_found",
    "run_not_found",
    "backtest_not_found",
    "workflow_archived",
    "workflow_not_runnable",
    "too_many_backtests",
    "too_many_runs",
    "storage_limit_reached",
    "storage_full",
    "upgrade_unfinished",
    "idempotency_key_reused",
  ],
  headers: { idempotency_key: "Idempotency-Key" },
  input: Input,
  example: { last: 20, wait: 20 },
  output: Backtest,
  pollLocation: ({ id, workflow_id, status }) =>
    status === "running" ? `/workflows/${workflow_id}/backtests/${id}` : undefined,
  async run(input, ctx) {
    if (input.backtest_id !== undefined) assertStartsNone(input);
    const workflow = await findWorkflow(ctx.read.workflows, input.workflow_id);
    const id = input.backtest_id ?? (await startBacktest(ctx, workflow, input));
    const found = await findBacktest(ctx.read, workflow.id, id);
    await waitForBacktest(ctx, found, resolveWaitSeconds(ctx, input.wait));
    return toBacktest(ctx, await findBacktest(ctx.read, workflow.id, id));
  },
});

const OF_START = [
  "patch",
  "definition",
  "version",
  "status",
  "since",
  "until",
  "run_version",
  "source_workflow_id",
  "given",
] as const satisfies (keyof Input)[];

/** @throws AppError invalid_input */
function assertStartsNone(input: Input): void {
  const others = OF_START.filter((name) => input[name] !== undefined);
  if (others.length === 0) return;
  throw invalidInput(
    others.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be combined with backtest_id, which starts no backtest",
      fix: "Leave it out to wait for that backtest, or leave out backtest_id to start another one.",
    })),
  );
}

/** @returns its id */
async function startBacktest(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  input: Input,
): Promise<string> {
  const prepare = async (): Promise<PreparedBacktest> => {
    const tested = await testedDefinition(ctx, workflow, input);
    const source = await sourceWorkflow(ctx, workflow, input.source_workflow_id);
    const { runs } = await sourceRuns(ctx.read.runs, {
      workflowId: source.id,
      project: projectOf(workflow),
      last: input.last,
      status: input.status === undefined ? ["succeeded", "failed"] : [input.status],
      since: toIso(input.since),
      until: toIso(input.until),
      isWanted: ({ version }) => input.run_version === undefined || version === input.run_version,
    });
    if (runs.length === 0) throw noRuns(source.id);
    return prepareBacktest(ctx, workflow, { ...tested, source, reads: input.reads, runs });
  };
  const prepared = await prepare().catch((error: unknown) => {
    // A repeated request returns its backtest even if it could not be started again.
    if (input.idempotency_key === undefined) throw error;
    return { error };
  });
  return saveBacktest(ctx, prepared);
}

const noRuns = (workflowId: string): AppError =>
  new AppError(
    "run_not_found",
    `"${workflowId}" has no run that has ended and fits the filters, so there is nothing to compare with. ` +
      "list_runs (GET /runs) lists its runs.",
  );

/** @throws AppError invalid_input, workflow_not_runnable, version_not_found, missing_scope */
async function testedDefinition(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  { patch, definition, version, given }: Input,
): Promise<Pick<BacktestRecord, "version" | "definition" | "given">> {
  assertOneSource({ patch, definition, version });
  const tested = version ?? workflow.version;
  const project = projectOf(workflow);
  const isDraft = patch !== undefined || definition !== undefined;
  if (isDraft || given !== undefined)
    assertMayRunUnsaved(ctx.actor.principal, project, isDraft ? "definition" : "given");
  if (version !== undefined) await findVersion(ctx.read.workflows, workflow, version);
  const saved = await ctx.read.runs.versionDefinition(workflow.id, tested);
  if (!isDraft) return { version: tested, definition: null, given: await givenOf(ctx, given, saved ?? {}) };
  const base = saved ?? {};
  const draft = patch === undefined ? definition : applyPatch(base, patch);
  const read = await readDefinition(ctx, draft, { project, selfId: workflow.id });
  const [first] = read.issues;
  if (first !== undefined)
    throw new AppError(
      "workflow_not_runnable",
      `The changed definition has ${read.issues.length} issue${read.issues.length === 1 ? "" : "s"}, so nothing was started: ` +
        `${first.path || "the definition"} ${first.message}. Fix it and send it again.`,
      { errors: read.issues },
    );
  return { version: tested, definition: read.definition, given: await givenOf(ctx, given, read.definition) };
}

function assertOneSource(
  sources: Pick<Input, "patch" | "definition"> & { version?: number | undefined },
): void {
  if (sources.definition === undefined) return;
  const others = (["patch", "version"] as const).filter((name) => sources[name] !== undefined);
  if (others.length === 0) return;
  throw invalidInput(
    others.map((path) => ({
      path,
      code: "not_allowed",
      message: "can't be combined with definition",
      fix: "Send only one of them: definition is whole, and patch changes a version.",
    })),
  );
}

/** @throws AppError invalid_input (paths below `given`) */
async function givenOf(
  ctx: ToolContext,
  given: Given | undefined,
  definition: Record<string, unknown>,
): Promise<Trial["given"]> {
  if (given === undefined) return {};
  const resolved = await resolveGiven(ctx, given, { path: "given", definition });
  if ("issues" in resolved) throw invalidInput(resolved.issues);
  return resolved.given;
}

/** @throws AppError workflow_not_found, invalid_input */
async function sourceWorkflow(
  ctx: ToolContext,
  workflow: WorkflowWithDefinition,
  id: string | undefined,
): Promise<WorkflowWithDefinition> {
  if (id === undefined) return workflow;
  const source = await findWorkflow(ctx.read.workflows, id);
  if (projectOf(source) === projectOf(workflow)) return source;
  throw invalidInput([
    {
      path: "source_workflow_id",
      code: "not_allowed",
      message: `belongs to another project (${projectOf(source)}), whose values stay there`,
      fix: `Name a workflow of the project ${projectOf(workflow)}.`,
    },
  ]);
}
