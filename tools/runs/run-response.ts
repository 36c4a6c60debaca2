/** A run as the API returns it: a short summary with the next action. A failed run takes at most 1,000 tokens. */
import type { z } from "zod";
import { type Interruption, LISTED_INTERRUPTIONS } from "../../schemas/interruption.ts";
import { projectField } from "../../schemas/project.ts";
import { FINAL_STATUSES, type Run, type RunSummary } from "../../schemas/run.ts";
import { tally } from "../../src/core/approval-rules.ts";
import { seesEventUrls } from "../../src/core/event-url-mask.ts";
import type { InterruptionRecord } from "../../src/core/interruption-ports.ts";
import type { ApprovalRecord, FailureHandler, RunCause, RunRecord } from "../../src/core/model.ts";
import { isPersonal } from "../../src/core/run-causes.ts";
import { hasStepEnded, type StepState } from "../../src/core/step-states.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { toInterruption } from "../interruptions/serialize-interruption.ts";
import { truncateText, truncateError, truncateValue, isTruncated } from "./truncate.ts";
import { mayApproveIn, shownAssignees } from "../approvals/standing.ts";
import { earliestWaitEnd } from "./earliest-wait-end.ts";
import { retrySteps } from "./retry-steps.ts";

/** Maximum sizes of the parts of a failed run, in characters: together under 4,000. */
const ERROR_CHARS = 1_600;
const INPUT_CHARS = 700;
const INPUTS_CHARS = 300;
const LISTED_ERROR_CHARS = 400;
/** Maximum number of current steps in the progress of a run. */
const MAX_CURRENT_STEPS = 10;
/** Maximum number of pending approvals that are listed. */
export const MAX_APPROVALS = 5;
/** Maximum length of an approval's message, in characters. */
const MESSAGE_CHARS = 300;

const IN_PROGRESS: ReadonlySet<StepState> = new Set(["queued", "running", "waiting"]);

const summaryFields = (run: RunRecord) => ({
  id: run.id,
  ...(run.workflowId === null
    ? { kind: "step" as const, workflow_id: null, version: null, step: singleStepOf(run) }
    : { workflow_id: run.workflowId, version: run.version }),
  ...projectField(run.project),
  status: run.status,
  trigger: run.trigger,
  created_at: run.createdAt,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
  ...(run.isTrial && { trial: true as const }),
  ...(run.retryOf !== null && { retry_of: run.retryOf }),
  ...(run.parent !== null && { parent_run: run.parent.runId }),
  ...(run.scheduledFor !== null && { scheduled_for: run.scheduledFor }),
  ...(run.backfill !== null && { backfill: run.backfill }),
  ...(run.replay !== null && { backtest: run.replay.backtest, replay_of: run.replay.runId }),
  ...(run.stepStates.includes("failed_continued") && {
    continued_failures: run.stepStates.positionsOf("failed_continued").length,
  }),
  ...(run.onFailure !== null && { on_failure: toHandler(run.onFailure) }),
});

/** The step of a run that has no workflow. Its definition was checked when it started. */
const singleStepOf = ({ definition }: RunRecord): { id: string; type: string } => {
  const [{ id, type }] = definition!["steps"] as [{ id: string; type: string }];
  return { id, type };
};

const toHandler = ({ workflowId, runId, error }: FailureHandler): NonNullable<Run["on_failure"]> => ({
  workflow_id: workflowId,
  ...(runId !== null && { run_id: runId }),
  ...(error !== null && { error: truncateError(error, LISTED_ERROR_CHARS) }),
});

/** Somebody who caused a run. The workflows that wrote its inputs are nobody, and may belong to other projects. */
const causesField = (causes: readonly RunCause[]): Pick<Run, "caused_by"> => {
  const people = causes.flatMap((cause): NonNullable<Run["caused_by"]> => {
    if (cause.kind === "inputs") return [];
    return isPersonal(cause)
      ? [{ kind: cause.kind, owner: cause.owner, key_name: cause.keyName, by: cause.by }]
      : [{ kind: cause.kind }];
  });
  return people.length > 0 ? { caused_by: people } : {};
};

/** A run in a list. @param open the number of its open interruptions */
export const toRunSummary = (run: RunRecord, open = 0): z.input<typeof RunSummary> => {
  const { details: _, ...error } = run.error === null ? {} : truncateError(run.error, LISTED_ERROR_CHARS);
  return {
    ...summaryFields(run),
    ...(open > 0 && { open_interruptions: open }),
    error: run.error === null ? null : (error as Run["error"]),
  };
};

/**
 * Builds the summary of a run.
 * @param maxChars maximum size of its output, in characters of JSON; a longer one is truncated
 */
export async function buildRunResponse(ctx: ToolContext, run: RunRecord, maxChars: number): Promise<Run> {
  const { owner, keyName, surface, client } = run.actor;
  const usage = await ctx.read.runs.usage(run.id);
  const summary: Run = {
    ...summaryFields(run),
    started_by: { owner, key_name: keyName, surface, client },
    ...causesField(run.causes),
    ...(run.definition !== null && run.workflowId !== null && { patched: true }),
    inputs: await truncateValue(
      ctx.read.runs,
      { runId: run.id, what: "inputs" },
      "inputs",
      Math.min(INPUTS_CHARS, maxChars),
    ),
    ...(await stateOf(ctx, run.id, maxChars)),
    ...(usage !== null && { usage }),
    error: run.error === null ? null : truncateError(run.error, ERROR_CHARS),
    ...(run.retryOf !== null && hasEnded(run) && { retry: await retrySteps(ctx, run) }),
  };
  const answer = await runAnswer(ctx, run, summary, maxChars);
  const interruptions = await interruptionsOf(ctx, run.id);
  return interruptions === undefined ? answer : withInterruptions(answer, interruptions);
}

/** Another run has other idempotency keys. */
const NO_OTHER_RUN = "Do not start another run for the same: it would be a second effect.";

/** A run with its open interruptions, and what to do about them. */
function withInterruptions(run: Run, { open, listed }: { open: number; listed: Interruption[] }): Run {
  const { id, step_id: step, waiting } = listed.find((one) => one.waiting) ?? listed[0]!;
  const settle = `POST /interruptions/${id}/settle, or the page of the run`;
  const asked = waiting
    ? `It waits for a person: did the effect of "${step}" happen? ${settle}. ${NO_OTHER_RUN}`
    : `Whether the effect of an attempt of "${step}" happened is not known. A person finds out, and settles it: ${settle}.`;
  return {
    ...run,
    open_interruptions: open,
    interruptions: listed,
    next: nextOf(run, asked, waiting),
  };
}

/** @param asked what to do about its open interruption */
function nextOf({ next, approvals = [], error }: Run, asked: string, waiting: boolean): string {
  if (next === undefined || (waiting && approvals.length === 0)) return asked;
  return error?.code === "interrupted" ? next : `${asked} ${next}`;
}

/** The open interruptions of a run; undefined without any. */
async function interruptionsOf(
  { read }: ToolContext,
  runId: string,
): Promise<{ open: number; listed: Interruption[] } | undefined> {
  const open = (await read.interruptions.openCounts([runId])).get(runId);
  if (open === undefined) return undefined;
  const filter = { runId, isOpen: true };
  const { items } = await read.interruptions.page({ filter, after: null, limit: LISTED_INTERRUPTIONS });
  // They may have been settled since.
  if (items.length === 0) return undefined;
  return { open, listed: await Promise.all(items.map((item) => toInterruption(read, item))) };
}

/** What a run returned, or what to do next. */
async function runAnswer(ctx: ToolContext, run: RunRecord, summary: Run, maxChars: number): Promise<Run> {
  if (run.status === "succeeded") return succeededRun(ctx, summary, maxChars);
  if (!hasEnded(run)) return unfinishedRun(ctx, run, summary);
  const response =
    run.status === "failed"
      ? await failedRun(ctx, run, summary)
      : { ...summary, next: `The run was cancelled${cancelledBy(run)}. ${retryHint(run.id)}` };
  const retry = await newestRetry(ctx, run.id);
  if (retry === undefined) return response;
  const next = `${retry.id} retries it: ${retry.status} (get_run, GET /runs/${retry.id}).`;
  return { ...response, retried_by: retry.id, next };
}

/** The newest run that retries another one. */
async function newestRetry({ read: { runs } }: ToolContext, runId: string): Promise<RunRecord | undefined> {
  const { items } = await runs.page({ filter: { retryOf: runId }, after: null, limit: 1 });
  return items[0];
}

/** The state that a run has read and committed; without one, nothing. */
async function stateOf(
  ctx: ToolContext,
  runId: string,
  maxChars: number,
): Promise<Pick<Run, "state" | "committed">> {
  const valueOf = (what: "state" | "committed") =>
    truncateValue(ctx.read.runs, { runId, what }, what, Math.min(INPUTS_CHARS, maxChars));
  const state = await valueOf("state");
  if (state === undefined) return {};
  const committed = await valueOf("committed");
  return { state, ...(committed !== undefined && { committed }) };
}

const cancelledBy = ({ stop }: RunRecord): string => (stop?.status === "cancelled" ? ` by ${stop.by}` : "");

async function succeededRun(ctx: ToolContext, summary: Run, maxChars: number): Promise<Run> {
  const location = { runId: summary.id, what: "output" } as const;
  const output = (await truncateValue(ctx.read.runs, location, "output", maxChars)) ?? null;
  if (!isTruncated(output)) return { ...summary, output };
  const next = `The output is truncated. get_run_value with ref "output" (GET /runs/${summary.id}/values/output) returns the whole.`;
  return { ...summary, output, next };
}

const retryHint = (id: string): string =>
  `retry_run (POST /runs/${id}/retry) starts a new run that reuses the outputs of succeeded steps; with patch it uses a changed definition.`;

async function failedRun(ctx: ToolContext, run: RunRecord, summary: Run): Promise<Run> {
  const interruption = await endingInterruption(ctx, run);
  const { step_id: stepId, item } = run.error ?? {};
  if (stepId === undefined) return { ...summary, next: `Fix the cause. ${retryHint(run.id)}` };
  const stepRef = { runId: run.id, stepId, item: item ?? null };
  const [record, definition] = await Promise.all([
    ctx.read.runs.step(stepRef),
    ctx.engine.getDefinition(run),
  ]);
  const attempts = record?.attempts ?? 0;
  const part = item === undefined ? "" : `.items.${item}`;
  const ref = `steps.${stepId}${part}.attempts.${attempts}.input`;
  const location = { ...stepRef, what: "attempt_input", attempt: attempts } as const;
  const input = attempts === 0 ? undefined : await truncateValue(ctx.read.runs, location, ref, INPUT_CHARS);
  return {
    ...summary,
    failed_step: {
      id: stepId,
      ...(item !== undefined && { item }),
      type: definition.steps.find((step) => step.id === stepId)?.type ?? "unknown",
      attempts,
      ...(input !== undefined && { input }),
    },
    ...(interruption !== undefined &&
      interruption.outcome !== null &&
      summary.error !== null && { error: { ...summary.error, fix: nextAfter(interruption) } }),
    next: interruption === undefined ? nextAfterFailure(run, stepId) : nextAfter(interruption),
  };
}

const nextAfterFailure = ({ id, error }: RunRecord, stepId: string): string =>
  error?.code === "not_given"
    ? "The trial stopped where it would have an effect: failed_step.input is what the step would get. If that is right, " +
      "publish_workflow, or try what follows with its output in given; else update_workflow."
    : `Fix the cause. ${retryHint(id)} get_run with step_id "${stepId}" shows its attempts.`;

/** The interruption because of which a run has failed. */
async function endingInterruption(
  { read }: ToolContext,
  { error }: RunRecord,
): Promise<InterruptionRecord | undefined> {
  const id = error?.code === "interrupted" ? error.details?.["interruption"] : undefined;
  return typeof id === "string" ? read.interruptions.find(id) : undefined;
}

/** What to do about a run that has failed because of an interruption, as it is settled now. */
function nextAfter({ id, stepId, outcome }: InterruptionRecord): string {
  switch (outcome) {
    case null:
      return `A person finds out whether the effect of "${stepId}" happened, and settles ${id} (POST /interruptions/${id}/settle). Then retry_run takes its output or sends it again. ${NO_OTHER_RUN}`;
    case "happened":
      return `The effect of "${stepId}" happened, as ${id} was settled: retry_run takes its output, and sends nothing.`;
    case "not_happened":
      return `The effect of "${stepId}" did not happen, as ${id} was settled: retry_run sends it.`;
    case "unknown":
      return `Nobody could find out whether the effect of "${stepId}" happened (${id}). retry_run sends it again, so it may happen twice: ask a person before you send confirm.`;
  }
}

/** The progress of a run, in steps. */
export function progressOf(
  { stepStates }: Pick<RunRecord, "stepStates">,
  steps: readonly { id: string }[],
): { total: number; done: number; current: string[] } {
  const current = steps.filter((_, index) => IN_PROGRESS.has(stepStates.at(index))).map(({ id }) => id);
  return {
    total: steps.length,
    done: stepStates.list.filter(hasStepEnded).length,
    current: current.slice(0, MAX_CURRENT_STEPS),
  };
}

async function unfinishedRun(ctx: ToolContext, run: RunRecord, summary: Run): Promise<Run> {
  const { steps } = await ctx.engine.getDefinition(run);
  const { items } = await ctx.read.approvals.page({
    filter: { runId: run.id, status: "pending" },
    after: null,
    limit: MAX_APPROVALS,
  });
  return {
    ...summary,
    progress: progressOf(run, steps),
    ...(items.length > 0 && {
      approvals: items.map((approval) =>
        Object.assign(
          {
            id: approval.id,
            step_id: approval.stepId,
            message: truncateText(approval.message, MESSAGE_CHARS),
          },
          approvalProgress(approval),
        ),
      ),
    }),
    next: await nextAction(ctx, run, items[0]),
  };
}

/** How many people have approved, where several must: for the plan of the last decision. */
function approvalProgress({ rules, decisions }: ApprovalRecord): { progress?: string } {
  if (rules.required === 1 && rules.requiredDeclines === 1) return {};
  const { approved } = tally(rules, decisions, decisions.at(-1)?.planDigest ?? "");
  return { progress: `${approved} of ${rules.required} approved` };
}

async function nextAction(
  ctx: ToolContext,
  run: RunRecord,
  approval: ApprovalRecord | undefined,
): Promise<string> {
  const poll = `Ask again with get_run (GET /runs/${run.id}); cancel_run stops it.`;
  if (run.stop?.undoing === true)
    return `It ${run.stop.status === "failed" ? "has failed" : "was cancelled"}, and undoes its steps before it ends. Ask again with get_run (GET /runs/${run.id}).`;
  if (run.stop !== null) return `It is being stopped. ${poll}`;
  if (approval !== undefined) {
    const { id, rules } = approval;
    const assignees = shownAssignees(approval);
    const many = rules.required > 1 ? `${rules.required} of ` : "";
    const who =
      assignees.length > 0
        ? `the approval of ${many}${assignees.join(many === "" ? " or " : ", ")}`
        : rules.required > 1
          ? `the approval of ${rules.required} people`
          : "a person's approval";
    if (!mayApproveIn(ctx.actor.principal.access, run.project))
      return `It waits for ${who}, ${id}, which you can't decide: your key or role does not allow decide_approval. ${poll}`;
    return `It waits for ${who}: decide_approval (POST /approvals/${id}). The person who started the run can't decide, unless the operator allows it. ${poll}`;
  }
  if (!run.admitted)
    return `It is queued: the workflow limits how many of its runs are active at a time. ${poll}`;
  const waiting = (await ctx.engine.getDefinition(run)).steps.find(
    (step, index) => step["event"] !== undefined && run.stepStates.at(index) === "waiting",
  );
  if (waiting !== undefined) {
    if (!seesEventUrls(ctx.actor.principal.access, run.project))
      return `It waits for an event of the step "${waiting.id}", whose URL callers with the scope run see. ${poll}`;
    return (
      `It waits for an event: a POST of JSON to the event_url of the step "${waiting.id}" ` +
      `(get_run with step_id, GET /runs/${run.id}?step_id=${waiting.id}). ${poll}`
    );
  }
  if (run.status === "waiting") {
    const until = await earliestWaitEnd(ctx.read.runs, run.id);
    return `It waits${until === undefined ? "" : ` until ${until}`}, then continues by itself. ${poll}`;
  }
  if (run.status === "queued" && (await ctx.read.jobs.executors()).length === 0) {
    return `It is queued, but no executor is running: ask the operator to start one (millrace worker). ${poll}`;
  }
  return `It is still running. ${poll}`;
}

/** Whether nothing about a run changes any more: it has ended, and the run of its `on_failure` has started, or can't. */
export const isSettled = ({ status, onFailure }: Pick<RunRecord, "status" | "onFailure">): boolean =>
  hasEnded({ status }) && (onFailure === null || onFailure.runId !== null || onFailure.error !== null);

/** Whether a run has a final status. */
export const hasEnded = ({ status }: Pick<RunRecord, "status">): boolean => FINAL_STATUSES.has(status);
