/**
 * Runs backtests: starts their replays a few at a time, compares each one that has ended with its run, and adds up what was found.
 * Any executor may do the next part: what has been done is in the rows, so a backtest survives the end of every process, and no run
 * is replayed or counted twice.
 *
 * A backtest waits, and leaves nothing out, while its owner has reached a limit: other runs go first.
 */
import type { Logger } from "pino";
import type { BacktestRunRecord, RunningBacktest } from "../../../core/backtest-ports.ts";
import type { NotComparable } from "../../../../schemas/backtest.ts";
import { isAgreed, iso } from "../../../core/clock.ts";
import { differenceName } from "../../../../schemas/difference-names.ts";
import type { PreparedRun } from "../../../core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../../core/errors.ts";
import { BACKFILL_PRIORITY, type RunRecord } from "../../../core/model.ts";
import { oneAtATime } from "../../../core/once-per.ts";
import type { EngineReaders, EngineTransaction } from "../../../core/run-ports.ts";
import type { Plan } from "../../definition/plan.ts";
import { LimitRefusal } from "../../run-state/limit-refusal.ts";
import type { PrepareRun } from "../../run-state/prepare-run.ts";
import type { RunContext } from "../../run-state/run-context.ts";
import { startRun } from "../../run-state/start-run.ts";
import { type Compared, compareReplay, notComparableName, notCompared } from "./compare-replay.ts";
import { summaryOf } from "./summary.ts";

/** Backtests processed per poll. */
const BATCH_SIZE = 20;
/** Number of replays of a backtest that are unfinished at a time. */
const CONCURRENCY = 10;
/** Maximum length of a recorded message, in characters. */
const MAX_MESSAGE_CHARS = 500;

interface Options {
  context: RunContext;
  read: EngineReaders;
  transaction: EngineTransaction;
  prepareRun: PrepareRun;
  planOf(run: RunRecord): Promise<Plan>;
  log: Logger;
}

export interface Backtester {
  /** Does what can be done now. Safe to call from any number of executors at a time. @returns how many replays it started */
  startRuns(): Promise<number>;
  /** Whether the last call found a backtest that is running. */
  isActive(): boolean;
}

export function backtester(options: Options): Backtester {
  const { context, read, transaction, prepareRun, planOf, log } = options;
  const { runs, backtests } = read;
  let active = false;

  return { isActive: () => active, startRuns: oneAtATime(poll) };

  async function poll(): Promise<number> {
    let count = 0;
    for (let again = true; again;) {
      again = false;
      // With a wrong clock the other executors go on with them.
      if (!isAgreed(context.clock)) return count;
      const running = await backtests.running(BATCH_SIZE);
      active = running.length > 0;
      for (const backtest of running) {
        const started = await continueOrLog(backtest);
        count += started.count;
        again ||= started.hasMore;
      }
    }
    return count;
  }

  /** A backtest that fails does not delay the others. When the store is unavailable all of them fail. */
  async function continueOrLog(backtest: RunningBacktest): Promise<{ count: number; hasMore: boolean }> {
    try {
      return await continueBacktest(backtest);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      log.warn({ err, workflow_id: backtest.workflowId, backtest: backtest.id }, "backtest check failed");
      return { count: 0, hasMore: false };
    }
  }

  /** @returns whether there may be more to do at once */
  async function continueBacktest(backtest: RunningBacktest): Promise<{ count: number; hasMore: boolean }> {
    const { id } = backtest;
    let open = 0;
    for (const entry of await backtests.open(id)) {
      const compared = await comparedEntry(entry);
      if (compared === undefined) open += 1;
      else await save(backtest, entry, compared);
    }
    let count = 0;
    // A bound, so that each backtest has its turn.
    for (let turns = 0; open < CONCURRENCY && turns < 2 * CONCURRENCY; turns += 1) {
      const entry = await backtests.next(id);
      if (entry === undefined) {
        if (open === 0) await finish(backtest);
        return { count, hasMore: false };
      }
      const started = await startReplay(backtest, entry);
      if (started === "waits") return { count, hasMore: false };
      if (started !== "started") continue;
      open += 1;
      count += 1;
    }
    return { count, hasMore: open < CONCURRENCY };
  }

  /** @returns undefined while its replay runs */
  async function comparedEntry({ sourceRun, run }: BacktestRunRecord): Promise<Compared | undefined> {
    const replay = await runs.find(run!);
    if (replay === undefined) return interrupted("purged", "The replay is no longer stored.");
    if (replay.finishedAt === null) return undefined;
    if (replay.status === "cancelled") return interrupted("stopped", "The replay was cancelled.");
    const source = await runs.find(sourceRun);
    if (source === undefined) return purged(sourceRun);
    try {
      return await compareReplay({ runs, planOf }, source, replay);
    } catch (err) {
      if (isStorageUnavailable(err)) throw err;
      // The definition was pruned, or is one that this release does not read. The others are compared in any case.
      log.warn({ err, run_id: sourceRun }, "run not compared");
      return notCompared("purged", `The run ${sourceRun} can't be read with its definition any more.`, {
        name: notComparableName("purged"),
      });
    }
  }

  async function startReplay(
    backtest: RunningBacktest,
    entry: BacktestRunRecord,
  ): Promise<"started" | "compared" | "waits"> {
    const source = await runs.find(entry.sourceRun);
    const refused = source === undefined ? purged(entry.sourceRun) : stoppedEarly(source);
    if (refused !== undefined) return save(backtest, entry, refused);
    const prepared = await prepare(backtest, source!);
    if (prepared === undefined) return "waits";
    if (!("inputs" in prepared)) return save(backtest, entry, prepared);
    return start(backtest, entry, prepared);
  }

  async function save(
    { id }: RunningBacktest,
    { position }: BacktestRunRecord,
    compared: Compared,
  ): Promise<"compared"> {
    await transaction((tx) => tx.backtests.setResult(id, position, compared));
    return "compared";
  }

  /** @returns a result where the inputs of the run are not valid any more; undefined when the backtest waits, or has ended */
  async function prepare(
    backtest: RunningBacktest,
    source: RunRecord,
  ): Promise<PreparedRun | Compared | undefined> {
    const { workflowId, version, actor, keyLimits, reads } = backtest;
    const { definition, given } = (await backtests.find(backtest.id))!;
    try {
      const prepared = await prepareRun({
        workflowId,
        version,
        ...(definition !== null && { definition }),
        caller: null,
        keyLimits,
        inputs: await runs.inputs(source.id),
        areInputsStored: true,
        actor,
        trigger: "backtest",
        trial: { given },
        replay: { runId: source.id, workflowId: backtest.sourceWorkflowId, backtest: backtest.id, reads },
        maxPriority: BACKFILL_PRIORITY,
      });
      if (prepared.project === backtest.project) return prepared;
      await end(backtest, "failed", `"${workflowId}" was moved to another project.`);
    } catch (error) {
      if (!(error instanceof AppError) || isStorageUnavailable(error)) throw error;
      if (error.code === "invalid_input") return refusedInputs(error);
      if (error.code === "storage_full")
        await transaction((tx) => setMessage(tx.backtests, backtest, error.message));
      else await end(backtest, "failed", `A run can't start: ${error.message}`);
    }
    return undefined;
  }

  async function start(
    backtest: RunningBacktest,
    { position }: BacktestRunRecord,
    prepared: PreparedRun,
  ): Promise<"started" | "compared" | "waits"> {
    const { id } = backtest;
    try {
      return await transaction(async (tx) => {
        // Others may have started it, or ended the backtest, since it was read.
        const current = await tx.backtests.lock(id);
        if (current?.status !== "running") return "waits";
        if ((await tx.backtests.open(id)).length >= CONCURRENCY) return "waits";
        const refusal = await context.startLimits.refusal(tx, prepared);
        if (refusal !== undefined) {
          await setMessage(tx.backtests, current, refusal.message);
          return "waits";
        }
        if (!(await tx.backtests.setRun(id, position, prepared.id))) return "compared";
        await startRun(context, tx, prepared);
        if (current.message !== null) await tx.backtests.setMessage(id, null);
        return "started";
      });
    } catch (error) {
      if (error instanceof LimitRefusal) return "waits";
      throw error;
    }
  }

  /** Ends it unless another executor has started a replay meanwhile. Results never change, so this needs no lock. */
  async function finish(backtest: RunningBacktest): Promise<void> {
    const counts = Object.values(await backtests.resultCounts(backtest.id));
    const compared = counts.reduce((sum, count) => sum + count, 0);
    if (compared === backtest.total) await end(backtest, "finished", null);
  }

  async function end(
    backtest: RunningBacktest,
    status: "finished" | "failed",
    message: string | null,
  ): Promise<void> {
    const { id, workflowId } = backtest;
    const summary = await summaryOf(backtests, id);
    const finishedAt = iso(context.clock.now());
    const text = message?.slice(0, MAX_MESSAGE_CHARS) ?? null;
    await transaction(async (tx) => {
      const ended = { status, message: text, finishedAt, cancelledBy: null, summary };
      if (!(await tx.backtests.endRunning(id, ended))) return;
      tx.onCommit(() => {
        const fields = { workflow_id: workflowId, backtest: id, ...(text !== null && { reason: text }) };
        if (status === "failed") log.warn(fields, "backtest failed");
        else log.info(fields, "backtest finished");
      });
    });
  }
}

const setMessage = async (
  writer: { setMessage(id: string, message: string | null): Promise<void> },
  { id, message: present }: Pick<RunningBacktest, "id" | "message">,
  message: string,
): Promise<void> => {
  const text = message.slice(0, MAX_MESSAGE_CHARS);
  if (text !== present) await writer.setMessage(id, text);
};

const purged = (runId: string): Compared =>
  notCompared("purged", `The run ${runId} is no longer stored.`, { name: null });

/** What ended a replay from outside says nothing about the run either: it could be tested again. */
const interrupted = (reason: NotComparable, message: string): Compared =>
  notCompared(reason, message, { name: notComparableName("interrupted") });

/** What ended a run from outside says nothing about its definition. */
const stoppedEarly = ({ stop }: RunRecord): Compared | undefined =>
  stop === null || stop.undoing === true
    ? undefined
    : notCompared("stopped", "The run was cancelled, or reached its timeout.", { name: null });

/** The definition refuses the inputs of the run. */
function refusedInputs({ message, details }: AppError): Compared {
  const [first] = details.errors ?? [];
  const what = first === undefined ? message : `${first.path} ${first.message}`;
  return notCompared("refused_inputs", `It refuses the inputs of the run: ${what}.`, {
    name: differenceName(["error", "invalid_input"]),
    fix: first?.fix,
  });
}
