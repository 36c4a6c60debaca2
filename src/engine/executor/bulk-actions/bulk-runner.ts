/**
 * Goes on with bulk actions: retries or cancels their runs in order, as fast as the rate of each allows. Any executor may do the next
 * part: what has been done is in the rows, so a bulk action survives the end of every process, and nothing is done twice with a run.
 *
 * A retry starts only if it does what was confirmed: each run is planned again when its turn comes. A bulk action waits, and skips
 * nothing, while its owner has reached a limit, or the workflow its number of concurrent runs: other runs go first. It ends when the
 * person or key that started it may not run the workflows any more.
 */
import type { Logger } from "pino";
import type { SkipReason } from "../../../../schemas/bulk-action.ts";
import { type Access, FULL_ACCESS, isVisible, scopesIn, visibilityOf } from "../../../core/access.ts";
import type {
  BulkActionReader,
  BulkRunRecord,
  BulkRunResult,
  RunningBulkAction,
} from "../../../core/bulk-action-ports.ts";
import { isAgreed, iso, SECOND } from "../../../core/clock.ts";
import type { EngineApi, PreparedRun } from "../../../core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../../core/errors.ts";
import { BACKFILL_PRIORITY, type RunRecord } from "../../../core/model.ts";
import { oneAtATime } from "../../../core/once-per.ts";
import type { WorkflowReader } from "../../../core/ports.ts";
import { rateIntervalMs } from "../../../core/rate.ts";
import { retryPlanDigest } from "../../../core/retry-plan-digest.ts";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../../../core/run-ports.ts";
import { type Standing, standingAccess, type StandingReaders } from "../../../core/standing-access.ts";
import { truncate } from "../../../core/truncate.ts";
import { stopRun } from "../../run-state/advance-run.ts";
import { LimitRefusal } from "../../run-state/limit-refusal.ts";
import type { PrepareRun } from "../../run-state/prepare-run.ts";
import type { RunContext } from "../../run-state/run-context.ts";
import { insertRun, mayStartNow } from "../../run-state/start-run.ts";
import { isPassing, retryPreparer, retryRequest } from "../retry-request.ts";

/** Maximum number of bulk actions that a poll looks at. */
const BATCH_SIZE = 200;
/** How long a poll goes on with one of them before the others have their turn, in milliseconds and in runs. */
const TURN_MS = SECOND / 2;
const TURN_RUNS = 20;
/** How late a bulk action may be and still catch up with its rate, in milliseconds: the time between two polls. */
const CATCH_UP_MS = SECOND / 2;
/** How long it waits where a limit, or other runs of the workflow, come first, in milliseconds. */
const WAIT_MS = 2 * SECOND;
/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 500;
const WAITS_FOR_LIMIT =
  "It waits for a limit of its owner or project, of which it takes half at most, and goes on by itself.";
const UNSAVED =
  "It runs what no version of a workflow says, for which the scope write is needed; it was lost since the start.";
const WAITS_FOR_OTHERS = "Other runs of the workflow go first: it has reached its number of concurrent runs.";
const MOVED = "Its workflow was moved to another project: retry the run by itself.";
const UNREADABLE = "The run can't be read with its definition any more.";

interface Options {
  context: RunContext;
  read: EngineReaders & { workflows: Pick<WorkflowReader, "projectOf"> };
  /** What the rights of the people and keys are read from; left out, nobody loses any. */
  standing?: StandingReaders | undefined;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  planRetry: EngineApi["planRetry"];
  log: Logger;
}

export interface BulkRunner {
  /** Does what can be done now. Safe to call from any number of executors at a time. @returns how many runs it started or stopped */
  continueActions(): Promise<number>;
  /** Whether the last call found a bulk action that is running. */
  isActive(): boolean;
}

/** What happened with a run; `waits`: nothing now. */
type Handled = "done" | "skipped" | "waits";

/** The next run of a bulk action, and what prepares its retry. */
interface Turn {
  action: RunningBulkAction;
  entry: BulkRunRecord;
  prepare: ReturnType<typeof retryPreparer>;
  /** What may go on in the name of who started it. */
  access: Access;
}

export function bulkRunner(options: Options): BulkRunner {
  const { context, read, transaction, prepareRun, planRetry, log } = options;
  const { runs, bulkActions } = read;
  let active = false;

  return { isActive: () => active, continueActions: oneAtATime(poll) };

  async function poll(): Promise<number> {
    let count = 0;
    for (let again = true; again;) {
      again = false;
      // With a wrong clock the other executors go on with them.
      if (!isAgreed(context.clock)) return count;
      const running = await bulkActions.running(BATCH_SIZE);
      active = running.length > 0;
      for (const action of running) {
        if (!isDue(action)) continue;
        const continued = await continueOrLog(action);
        count += continued.count;
        again ||= continued.hasMore;
      }
    }
    return count;
  }

  /** A bulk action that fails does not delay the others. When the store is unavailable all of them fail. */
  async function continueOrLog(action: RunningBulkAction): Promise<{ count: number; hasMore: boolean }> {
    try {
      return await continueAction(action);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, bulk_action: action.id }, "bulk action check failed");
      return { count: 0, hasMore: false };
    }
  }

  /** @returns whether there may be more to do at once */
  async function continueAction(action: RunningBulkAction): Promise<{ count: number; hasMore: boolean }> {
    const until = performance.now() + TURN_MS;
    const prepare = retryPreparer(prepareRun);
    let standing: Standing = { access: FULL_ACCESS };
    let count = 0;
    for (let turn = 0; turn < TURN_RUNS && performance.now() < until; turn += 1) {
      const entry = await bulkActions.next(action.id);
      if (entry === undefined) {
        if ((await bulkActions.unfinishedRetries(action.id)).length === 0)
          await end(action, "finished", null);
        return { count, hasMore: false };
      }
      if (action.action === "retry" && (await isBusy(bulkActions, action))) return { count, hasMore: false };
      if (turn === 0) standing = await standingOf(action);
      if ("lost" in standing) {
        await end(action, "cancelled", WHY_ENDED[standing.lost](action.actor.owner));
        return { count, hasMore: false };
      }
      const { access } = standing;
      const handled =
        action.action === "cancel"
          ? await cancelEntry(action, entry)
          : await retryEntry({ action, entry, prepare, access });
      if (handled === "waits") return { count, hasMore: false };
      if (handled === "done") count += 1;
      // Its rate says when the next one follows.
      if (handled === "done" && action.rate !== null) break;
    }
    return { count, hasMore: true };
  }

  /** What may go on in the name of who started it. */
  async function standingOf({
    actor: { owner, lineage },
    project,
    workflowId,
  }: RunningBulkAction): Promise<Standing> {
    const { standing } = options;
    if (standing === undefined) return { access: FULL_ACCESS };
    const isKey = (await standing.apiKeys.ofLineage(lineage)).length > 0;
    const of = { project, ...(workflowId !== null && { workflowId }) };
    return standingAccess(
      standing,
      { owner, lineage: isKey ? lineage : null },
      context.clock.now(),
      (access) => isVisible(visibilityOf(access, "run"), of),
    );
  }

  function cancelEntry({ id, actor }: RunningBulkAction, { position, run }: BulkRunRecord): Promise<Handled> {
    return transaction(async (tx) => {
      const current = await lockDue(tx, id);
      if (current === undefined) return "waits";
      const found = await tx.runs.lock(run);
      const isStopped =
        found?.finishedAt === null &&
        (await stopRun(context, tx, run, { status: "cancelled", by: actor.owner })).stopped;
      const result: BulkRunResult = isStopped
        ? { result: "cancelled", retry: null, reason: null, message: null }
        : skip(found === undefined ? "purged" : "wrong_status");
      if (!(await tx.bulkActions.setResult(id, position, result)) || !isStopped) return "skipped";
      await scheduleNext(tx, current);
      return "done";
    });
  }

  async function retryEntry({ action, entry, prepare, access }: Turn): Promise<Handled> {
    const source = await runs.find(entry.run);
    const prepared =
      source === undefined ? skip("purged") : await prepareEntry(action, { entry, source, prepare, access });
    if (prepared instanceof AppError) return postpone(action.id, prepared.message);
    if ("inputs" in prepared) return startRetry(action, entry, prepared);
    await transaction((tx) => tx.bulkActions.setResult(action.id, entry.position, prepared));
    return "skipped";
  }

  /** @returns a result where no retry starts, or why it can't start now */
  async function prepareEntry(
    { project, version, actor, keyLimits }: RunningBulkAction,
    { entry, source, prepare, access }: Omit<Turn, "action"> & { source: RunRecord },
  ): Promise<PreparedRun | BulkRunResult | AppError> {
    const { workflowId } = source;
    if (workflowId !== null && (await read.workflows.projectOf(workflowId)) !== project)
      return skip("not_runnable", MOVED);
    try {
      const by = { caller: null, keyLimits, actor, trigger: actor.surface, maxPriority: BACKFILL_PRIORITY };
      const retry = await prepare(await retryRequest(runs, source, by, { version }));
      const isSaved = retry.workflowId !== null && retry.definition === null && retry.trial === null;
      if (!isSaved && !scopesIn(access, project).has("write")) return skip("not_runnable", UNSAVED);
      const digest = retryPlanDigest(retry, await planRetry(source, retry));
      return digest === entry.planDigest ? retry : skip("changed");
    } catch (error) {
      if (error instanceof AppError && !isPassing(error)) return skip("not_runnable", error.message);
      if (isStorageUnavailable(error) && !isFull(error)) throw error;
      if (error instanceof AppError) return error;
      // The definition was pruned, or is one that this release does not read. The others go on in any case.
      log.warn({ err: error, run_id: source.id }, "run not retried");
      return skip("not_runnable", UNREADABLE);
    }
  }

  async function startRetry(
    { id }: RunningBulkAction,
    { position, run }: BulkRunRecord,
    prepared: PreparedRun,
  ): Promise<Handled> {
    try {
      return await transaction(async (tx) => {
        const current = await lockDue(tx, id);
        if (current === undefined || (await isBusy(tx.bulkActions, current))) return "waits";
        if ((await context.startLimits.refusal(tx, { ...prepared, isBackground: true })) !== undefined)
          throw new NotStarted({ waits: WAITS_FOR_LIMIT });
        // Limits are locked before runs and queues. What was counted is undone where no run starts.
        await context.startLimits.count(tx, prepared);
        // Two bulk actions with the same run: the second one sees the retry of the first.
        const source = await tx.runs.lock(run);
        const { workflowId } = prepared;
        if (workflowId !== null) await tx.runs.lockQueue(workflowId, "exclusive");
        if (source === undefined) throw new NotStarted(skip("purged"));
        if ((await tx.runs.retriedOf([run])).size > 0) throw new NotStarted(skip("already_retried"));
        if (!(await mayStartNow(context, tx, prepared))) throw new NotStarted({ waits: WAITS_FOR_OTHERS });
        const result = { result: "retried", retry: prepared.id, reason: null, message: null } as const;
        if (!(await tx.bulkActions.setResult(id, position, result))) throw new NotStarted(result);
        await insertRun(context, tx, prepared);
        await scheduleNext(tx, current);
        return "done";
      });
    } catch (error) {
      if (error instanceof LimitRefusal) return postpone(id, WAITS_FOR_LIMIT);
      if (!(error instanceof NotStarted)) throw error;
      const { outcome } = error;
      if ("waits" in outcome) return postpone(id, outcome.waits);
      if (outcome.result === "skipped")
        await transaction((tx) => tx.bulkActions.setResult(id, position, outcome));
      return "skipped";
    }
  }

  /** Others may have gone on with it, or ended it, since it was read. @returns undefined if it may not go on now */
  async function lockDue(tx: EngineWriters, id: string): Promise<RunningBulkAction | undefined> {
    const current = await tx.bulkActions.lock(id);
    return current?.status === "running" && isDue(current) ? current : undefined;
  }

  /** A time that is further ahead than it can be set is that of a clock that was wrong. */
  function isDue({ nextAt, rate }: RunningBulkAction): boolean {
    const left = Date.parse(nextAt) - context.clock.now();
    return left <= 0 || left > Math.max(WAIT_MS, rate === null ? 0 : rateIntervalMs(rate));
  }

  /** After a run: says when the next one may follow. */
  async function scheduleNext(
    tx: EngineWriters,
    { id, rate, nextAt, message }: RunningBulkAction,
  ): Promise<void> {
    if (rate === null && message === null) return;
    const now = context.clock.now();
    const next = rate === null ? now : Math.max(Date.parse(nextAt), now - CATCH_UP_MS) + rateIntervalMs(rate);
    await tx.bulkActions.setNext(id, { nextAt: iso(next), message: null });
  }

  /** It goes on later, and says why. */
  async function postpone(id: string, message: string): Promise<"waits"> {
    const nextAt = iso(context.clock.now() + WAIT_MS);
    const next = { nextAt, message: truncate(message, MAX_MESSAGE_CHARS) };
    await transaction((tx) => tx.bulkActions.setNext(id, next));
    return "waits";
  }

  async function end(
    { id, action }: RunningBulkAction,
    status: "finished" | "cancelled",
    message: string | null,
  ): Promise<void> {
    const finishedAt = iso(context.clock.now());
    await transaction(async (tx) => {
      if (!(await tx.bulkActions.endRunning(id, { status, message, finishedAt, cancelledBy: null }))) return;
      const reason = message !== null && { reason: message };
      tx.onCommit(() => log.info({ bulk_action: id, action, ...reason }, `bulk action ${status}`));
    });
  }
}

/** Rolls the start of a retry back. */
class NotStarted extends Error {
  override readonly name = "NotStarted";
  readonly outcome: BulkRunResult | { waits: string };

  constructor(outcome: BulkRunResult | { waits: string }) {
    super("The retry was not started.");
    this.outcome = outcome;
  }
}

type Lost = Extract<Standing, { lost: string }>["lost"];

const WHY_ENDED: Readonly<Record<Lost, (owner: string) => string>> = {
  person: (owner) => `It ended, because ${owner}, who started it, is not an active user any more.`,
  right: (owner) => `It ended, because ${owner}, who started it, may not run these workflows any more.`,
  key: () => "It ended, because the API key that started it is revoked or has expired.",
  "right of key": () => "It ended, because the API key that started it may not run these workflows any more.",
};

const isFull = (error: unknown): boolean => error instanceof AppError && error.code === "storage_full";

/** Whether it has reached its number of unfinished retries. */
const isBusy = async (
  read: Pick<BulkActionReader, "unfinishedRetries">,
  { id, concurrency }: RunningBulkAction,
): Promise<boolean> => (await read.unfinishedRetries(id)).length >= concurrency;

const skip = (reason: SkipReason, message: string | null = null): BulkRunResult => ({
  result: "skipped",
  retry: null,
  reason,
  message: message && truncate(message, MAX_MESSAGE_CHARS),
});
