/**
 * Goes on with bulk actions: retries or cancels their runs in order, as fast as the rate of each allows. Any executor may do the next
 * part: what has been done is in the rows, so a bulk action survives the end of every process, and nothing is done twice with a run.
 *
 * A retry starts only if it does what was confirmed: each run is planned again when its turn comes. A bulk action waits, and skips
 * nothing, while its owner has reached a limit, or the workflow its number of concurrent runs: other runs go first.
 */
import type { Logger } from "pino";
import type { SkipReason } from "../../../../schemas/bulk-action.ts";
import type {
  BulkActionRecord,
  BulkActionWriter,
  BulkRunRecord,
  BulkRunResult,
} from "../../../core/bulk-action-ports.ts";
import { isAgreed, iso, SECOND } from "../../../core/clock.ts";
import type { EngineApi, PreparedRun } from "../../../core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../../core/errors.ts";
import { BACKFILL_PRIORITY, type RunRecord } from "../../../core/model.ts";
import { oneAtATime } from "../../../core/once-per.ts";
import { rateIntervalMs } from "../../../core/rate.ts";
import { retryPlanDigest } from "../../../core/retry-plan-digest.ts";
import type { EngineReaders, EngineTransaction, EngineWriters } from "../../../core/run-ports.ts";
import { stopRun } from "../../run-state/advance-run.ts";
import { LimitRefusal } from "../../run-state/limit-refusal.ts";
import type { PrepareRun } from "../../run-state/prepare-run.ts";
import type { RunContext } from "../../run-state/run-context.ts";
import { mayStartNow, startRun } from "../../run-state/start-run.ts";

import { retryRequest } from "../retry-request.ts";

/** Bulk actions processed per poll. */
const BATCH_SIZE = 20;
/** Runs of a bulk action that are handled before the others have their turn. */
const MAX_TURNS = 20;
/** How late a bulk action may be and still catch up with its rate, in milliseconds: the time between two polls. */
const CATCH_UP_MS = SECOND / 2;
/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 500;
const WAITS_FOR_OTHERS = "Other runs of the workflow go first: it has reached its number of concurrent runs.";

interface Options {
  context: RunContext;
  read: EngineReaders;
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
        const continued = await continueOrLog(action);
        count += continued.count;
        again ||= continued.hasMore;
      }
    }
    return count;
  }

  /** A bulk action that fails does not delay the others. When the store is unavailable all of them fail. */
  async function continueOrLog(action: BulkActionRecord): Promise<{ count: number; hasMore: boolean }> {
    try {
      return await continueAction(action);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, bulk_action: action.id }, "bulk action check failed");
      return { count: 0, hasMore: false };
    }
  }

  /** @returns whether there may be more to do at once */
  async function continueAction(action: BulkActionRecord): Promise<{ count: number; hasMore: boolean }> {
    let count = 0;
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      const entry = await bulkActions.next(action.id);
      if (entry === undefined) {
        if ((await bulkActions.unfinishedRetries(action.id)).length === 0) await finish(action);
        return { count, hasMore: false };
      }
      const handled =
        action.action === "cancel" ? await cancelEntry(action, entry) : await retryEntry(action, entry);
      if (handled === "waits") return { count, hasMore: false };
      if (handled === "done") count += 1;
    }
    return { count, hasMore: true };
  }

  function cancelEntry(action: BulkActionRecord, { position, run }: BulkRunRecord): Promise<Handled> {
    return transaction(async (tx) => {
      const current = await lockRunning(tx, action.id);
      if (current === undefined) return "waits";
      const stop = { status: "cancelled", by: action.actor.owner } as const;
      const found = await tx.runs.find(run);
      const isStopped = found?.finishedAt === null;
      const result: BulkRunResult = isStopped
        ? { result: "cancelled", retry: null, reason: null, message: null }
        : skip(found === undefined ? "purged" : "wrong_status");
      if (!(await tx.bulkActions.setResult(action.id, position, result))) return "skipped";
      if (!isStopped) return "skipped";
      await stopRun(context, tx, run, stop);
      await goOn(tx, current);
      return "done";
    });
  }

  async function retryEntry(action: BulkActionRecord, entry: BulkRunRecord): Promise<Handled> {
    const current = await bulkActions.find(action.id);
    if (current === undefined || !(await mayGoOn(bulkActions, current))) return "waits";
    const source = await runs.find(entry.run);
    const prepared = source === undefined ? skip("purged") : await prepare(current, entry, source);
    if (prepared === "waits") return "waits";
    if ("result" in prepared) {
      await transaction((tx) => tx.bulkActions.setResult(action.id, entry.position, prepared));
      return "skipped";
    }
    return startRetry(current, entry, prepared);
  }

  /** @returns a result where no retry starts */
  async function prepare(
    action: BulkActionRecord,
    { planDigest }: BulkRunRecord,
    source: RunRecord,
  ): Promise<PreparedRun | BulkRunResult | "waits"> {
    try {
      const { actor, keyLimits, version } = action;
      const by = { caller: null, keyLimits, actor, trigger: actor.surface, maxPriority: BACKFILL_PRIORITY };
      const prepared = await prepareRun(await retryRequest(runs, source, by, { version }));
      const isConfirmed =
        prepared.project === action.project &&
        retryPlanDigest(await planRetry(source, prepared)) === planDigest;
      return isConfirmed ? prepared : skip("changed");
    } catch (error) {
      if (!(error instanceof AppError) || (isStorageUnavailable(error) && error.code !== "storage_full"))
        throw error;
      if (error.code !== "storage_full") return skip("not_runnable", error.message);
      await transaction((tx) => setMessage(tx.bulkActions, action, error.message));
      return "waits";
    }
  }

  async function startRetry(
    action: BulkActionRecord,
    { position, run }: BulkRunRecord,
    prepared: PreparedRun,
  ): Promise<Handled> {
    const { id } = action;
    try {
      return await transaction(async (tx) => {
        const current = await lockRunning(tx, id);
        if (current === undefined) return "waits";
        const refused = await context.startLimits.refusal(tx, prepared);
        if (refused !== undefined) return waits(tx, current, refused.message);
        // Two bulk actions with the same run: the second one sees the retry of the first.
        await tx.runs.lock(run);
        const { workflowId } = prepared;
        if (workflowId !== null) await tx.runs.lockQueue(workflowId, "exclusive");
        const { items } = await tx.runs.page({ filter: { retryOf: run }, after: null, limit: 1 });
        if (items.length > 0) {
          await tx.bulkActions.setResult(id, position, skip("already_retried"));
          return "skipped";
        }
        if (!(await mayStartNow(context, tx, prepared))) return waits(tx, current, WAITS_FOR_OTHERS);
        const result = { result: "retried", retry: prepared.id, reason: null, message: null } as const;
        if (!(await tx.bulkActions.setResult(id, position, result))) return "skipped";
        await startRun(context, tx, prepared);
        await goOn(tx, current);
        return "done";
      });
    } catch (error) {
      if (error instanceof LimitRefusal) return "waits";
      throw error;
    }
  }

  /** Others may have gone on with it, or ended it, since it was read. @returns undefined if it may not go on now */
  async function lockRunning(tx: EngineWriters, id: string): Promise<BulkActionRecord | undefined> {
    const current = await tx.bulkActions.lock(id);
    return current !== undefined && (await mayGoOn(tx.bulkActions, current)) ? current : undefined;
  }

  async function mayGoOn(
    reader: Pick<BulkActionWriter, "unfinishedRetries">,
    { id, action, status, nextAt, concurrency }: BulkActionRecord,
  ): Promise<boolean> {
    if (status !== "running" || Date.parse(nextAt) > context.clock.now()) return false;
    return action === "cancel" || (await reader.unfinishedRetries(id)).length < concurrency;
  }

  /** After a run: says when the next one may follow. */
  async function goOn(tx: EngineWriters, { id, rate, nextAt, message }: BulkActionRecord): Promise<void> {
    if (message !== null) await tx.bulkActions.setMessage(id, null);
    if (rate === null) return;
    const from = Math.max(Date.parse(nextAt), context.clock.now() - CATCH_UP_MS);
    await tx.bulkActions.setNextAt(id, iso(from + rateIntervalMs(rate)));
  }

  async function finish({ id, action }: BulkActionRecord): Promise<void> {
    const finishedAt = iso(context.clock.now());
    await transaction(async (tx) => {
      const ended = { status: "finished", message: null, finishedAt, cancelledBy: null } as const;
      if (!(await tx.bulkActions.endRunning(id, ended))) return;
      tx.onCommit(() => log.info({ bulk_action: id, action }, "bulk action finished"));
    });
  }
}

const skip = (reason: SkipReason, message: string | null = null): BulkRunResult => ({
  result: "skipped",
  retry: null,
  reason,
  message: message?.slice(0, MAX_MESSAGE_CHARS) ?? null,
});

const setMessage = async (
  writer: Pick<BulkActionWriter, "setMessage">,
  { id, message: present }: Pick<BulkActionRecord, "id" | "message">,
  message: string,
): Promise<void> => {
  const text = message.slice(0, MAX_MESSAGE_CHARS);
  if (text !== present) await writer.setMessage(id, text);
};

async function waits(tx: EngineWriters, action: BulkActionRecord, message: string): Promise<"waits"> {
  await setMessage(tx.bulkActions, action, message);
  return "waits";
}
