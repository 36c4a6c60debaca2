/** What happened in a run, in the order of time, from what is stored about it. */
import type { RunLogEntry } from "../../schemas/run-log.ts";
import type {
  ApprovalRecord,
  AttemptRecord,
  ListPosition,
  RunRecord,
  StepRecord,
} from "../../src/core/model.ts";
import { hasStepEnded, toStepStatus } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { hasEnded } from "./run-response.ts";
import { truncateError, truncateText } from "./truncate.ts";

/** Maximum number of attempts of a step that the log names: the last ones. */
const MAX_ATTEMPTS = 100;
/** Number of steps whose attempts one statement reads: SQLite answers synchronously. */
const STEPS_PER_READ = 100;
/** Maximum number of approvals that the log names. A fan-out may ask for more. */
const MAX_APPROVALS = 500;
const APPROVALS_PER_PAGE = 100;
/** Maximum length of an error, and of the text of a person, in characters. */
const ERROR_CHARS = 800;
const NOTE_CHARS = 300;

/**
 * Lists what happened in a run. Items of fan-outs and iterations are not named: their step says how many there were.
 * What it reads is limited by the number of steps, not of items.
 */
export async function runLog(ctx: ToolContext, run: RunRecord): Promise<RunLogEntry[]> {
  const [records, approvals, { steps }] = await Promise.all([
    ctx.read.runs.steps(run.id),
    approvalsOf(ctx, run.id),
    ctx.engine.getDefinition(run),
  ]);
  const position = new Map(steps.map(({ id }, index) => [id, index]));
  const ordered = records.toSorted(
    (a, b) => (position.get(a.stepId) ?? steps.length) - (position.get(b.stepId) ?? steps.length),
  );
  const entries = [...startOf(run)];
  const attempts = await attemptsOf(ctx, run.id, ordered);
  for (const record of ordered) entries.push(...stepEntries(record, attempts.get(record.stepId) ?? []));
  entries.push(...approvals.flatMap(approvalEntries), ...endOf(run));
  return entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function startOf({ createdAt, startedAt, actor, retryOf, parent }: RunRecord): RunLogEntry[] {
  const source = retryOf ?? parent?.runId;
  return [
    { at: createdAt, kind: "run_created", by: actor.owner, ...(source !== undefined && { run_id: source }) },
    ...(startedAt === null ? [] : [{ at: startedAt, kind: "run_started" as const }]),
  ];
}

function endOf(run: RunRecord): RunLogEntry[] {
  const { finishedAt: at, error, stop, onFailure } = run;
  if (at === null || !hasEnded(run)) return [];
  const handler: RunLogEntry[] =
    onFailure === null || onFailure.runId === null
      ? []
      : [{ at, kind: "on_failure_started", run_id: onFailure.runId, note: onFailure.workflowId }];
  if (run.status === "succeeded") return [{ at, kind: "run_succeeded" }];
  if (run.status === "failed")
    return [
      { at, kind: "run_failed", ...(error !== null && { error: truncateError(error, ERROR_CHARS) }) },
      ...handler,
    ];
  return [{ at, kind: "run_cancelled", ...(stop?.status === "cancelled" && { by: stop.by }) }];
}

/** The last attempts of the steps that were retried, by the ids of the steps. */
async function attemptsOf(
  ctx: ToolContext,
  runId: string,
  records: readonly StepRecord[],
): Promise<Map<string, AttemptRecord[]>> {
  const retried = records.filter(({ attempts }) => attempts > 1).map(({ stepId }) => stepId);
  const found: AttemptRecord[] = [];
  for (let from = 0; from < retried.length; from += STEPS_PER_READ) {
    const stepIds = retried.slice(from, from + STEPS_PER_READ);
    for (const attempt of await ctx.read.runs.lastAttemptsOfSteps(runId, stepIds, MAX_ATTEMPTS))
      found.push(attempt);
  }
  return Map.groupBy(found, ({ stepId }) => stepId);
}

function stepEntries(record: StepRecord, attempts: readonly AttemptRecord[]): RunLogEntry[] {
  const { stepId, attempts: count, startedAt, finishedAt } = record;
  const step = { step_id: stepId };
  const entries: RunLogEntry[] = [];
  if (count > 1) {
    for (const attempt of attempts) entries.push(...attemptEntries(attempt, record));
  } else if (startedAt !== null) entries.push({ at: startedAt, kind: "step_started", ...step });
  if (record.childRun !== null && startedAt !== null)
    entries.push({ at: startedAt, kind: "child_started", ...step, run_id: record.childRun });
  if (record.waitUntil !== null && startedAt !== null)
    entries.push({ at: startedAt, kind: "step_waiting", ...step, until: record.waitUntil });
  if (finishedAt !== null && hasStepEnded(record.state)) entries.push(endOfStep(record, finishedAt));
  return entries;
}

/** An attempt that is not the last has failed or was interrupted; the end of the last one is that of its step. */
function attemptEntries(attempt: AttemptRecord, { stepId, attempts }: StepRecord): RunLogEntry[] {
  const fields = { step_id: stepId, attempt: attempt.attempt };
  const start: RunLogEntry = {
    at: attempt.startedAt,
    kind: attempt.attempt === 1 ? "step_started" : "attempt_started",
    ...fields,
  };
  const { finishedAt: at, status, error } = attempt;
  if (at === null || attempt.attempt === attempts) return [start];
  const end: RunLogEntry = {
    at,
    kind: status === "interrupted" ? "attempt_interrupted" : "attempt_failed",
    ...fields,
    ...(error !== null && { error: truncateError(error, ERROR_CHARS) }),
  };
  return [start, end];
}

function endOfStep(record: StepRecord, at: string): RunLogEntry {
  const { stepId, state, reusedFrom, items, error } = record;
  const status = toStepStatus(state) as "succeeded" | "failed" | "skipped" | "cancelled";
  return {
    at,
    kind: reusedFrom === null || status !== "succeeded" ? (`step_${status}` as const) : "step_reused",
    step_id: stepId,
    ...(reusedFrom?.startsWith("run_") === true && { run_id: reusedFrom }),
    ...(items !== null && { items: { total: items.total, failed: items.failed } }),
    ...(error !== null && { error: truncateError(error, ERROR_CHARS) }),
  };
}

async function approvalsOf(ctx: ToolContext, runId: string): Promise<ApprovalRecord[]> {
  const found: ApprovalRecord[] = [];
  for (let after: ListPosition | null = null; found.length < MAX_APPROVALS;) {
    const page = await ctx.read.approvals.page({ filter: { runId }, after, limit: APPROVALS_PER_PAGE });
    found.push(...page.items);
    if (page.next === null) break;
    after = page.next;
  }
  return found.slice(0, MAX_APPROVALS);
}

const noteOf = (note: string | null): Pick<RunLogEntry, "note"> =>
  note === null ? {} : { note: truncateText(note, NOTE_CHARS) };

function approvalEntries(approval: ApprovalRecord): RunLogEntry[] {
  const fields = { step_id: approval.stepId, approval_id: approval.id };
  const entries: RunLogEntry[] = [
    { at: approval.createdAt, kind: "approval_requested", ...fields, ...noteOf(approval.message) },
    ...approval.events.map(({ kind, at, by, note }): RunLogEntry => ({
      at,
      kind: `approval_${kind}`,
      ...fields,
      ...(by !== null && { by }),
      ...noteOf(note),
    })),
    ...approval.decisions.map(({ decidedAt: at, approved, name: by, comment }): RunLogEntry => ({
      at,
      kind: approved ? "approval_approved" : "approval_declined",
      ...fields,
      by,
      ...noteOf(comment),
    })),
  ];
  const { decidedAt, status } = approval;
  if (decidedAt === null || status === "pending") return entries;
  // Decisions of older releases are recorded with the approval only.
  if (status === "expired" || status === "cancelled" || approval.decisions.length === 0)
    entries.push({
      at: decidedAt,
      kind: `approval_${status}`,
      ...fields,
      ...(approval.decidedBy !== null && { by: approval.decidedBy }),
      ...noteOf(approval.comment),
    });
  return entries;
}
