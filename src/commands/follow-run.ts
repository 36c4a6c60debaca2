/** Follows a run until it ends, until it waits, or until the command is interrupted. */
import { setTimeout as delay } from "node:timers/promises";
import { type Run } from "../../schemas/run.ts";
import { FINAL_STATUSES } from "../../schemas/run-status.ts";
import { cancelRun } from "../../tools/runs/cancel-run.ts";
import { getRun } from "../../tools/runs/get-run.ts";
import { SECOND } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import type { InProcessExecutor } from "./in-process-executor.ts";
import type { Operator } from "./operator.ts";
import type { RunView } from "./run-view.ts";

/** Minimum time between two redraws, in milliseconds. */
const MIN_REDRAW_INTERVAL_MS = 100;
/** Maximum time between two redraws, in milliseconds: elapsed times change although the run does not. */
const MAX_REDRAW_INTERVAL_MS = SECOND;
/** How long the cancellation of a run in this process may take, in milliseconds. */
const CANCEL_LIMIT_MS = 12 * SECOND;

/** The run that a command follows. */
export interface RunFeed {
  /** Reads the run with its steps. @param stop the person wants to stop following it */
  read(stop: AbortSignal): Promise<Run>;
  /** Resolves when the run may have changed since it was read last, or after a time in milliseconds. */
  changed(maxMs: number, signal: AbortSignal): Promise<void>;
  /** The whole output of a run that has ended; that of `read` may be cut. */
  output(run: Run): Promise<unknown>;
  cancel(): Promise<unknown>;
  /** Whether this process executes the run, so that it ends with the process. */
  isExecutedHere(): boolean;
}

/** What a command says that no longer follows a run. */
export const runContinues = (id: string): string =>
  `The run ${id} continues. Show it with: millrace runs show ${id}`;

export interface FollowResult {
  run: Run;
  /** The whole output; `run.output` may be cut. */
  output: unknown;
  /** Watching was interrupted and the run continues. */
  interrupted: boolean;
}

interface FollowOptions {
  view: RunView;
  stop: AbortSignal;
  /** Whether to stop following a run that has not ended. */
  endsEarly(run: Run): boolean;
}

export async function followRun(
  feed: RunFeed,
  { view, stop, endsEarly }: FollowOptions,
): Promise<FollowResult> {
  let cancelDeadline: number | undefined;
  for (;;) {
    const run = await feed.read(stop);
    view.show(run);
    const ended = FINAL_STATUSES.has(run.status);
    const interrupted =
      stop.aborted &&
      (!feed.isExecutedHere() || (cancelDeadline !== undefined && performance.now() > cancelDeadline));
    if (ended || interrupted || endsEarly(run))
      return { run, output: ended ? await feed.output(run) : null, interrupted: interrupted && !ended };
    if (stop.aborted && cancelDeadline === undefined) {
      cancelDeadline = performance.now() + CANCEL_LIMIT_MS;
      await feed.cancel().catch(ignoreRunFinished);
      continue;
    }
    const signal = stop.aborted ? new AbortController().signal : stop;
    await feed.changed(MAX_REDRAW_INTERVAL_MS, signal);
    await delay(MIN_REDRAW_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
  }
}

function ignoreRunFinished(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== "run_finished") throw error;
}

/** A run in the state of this machine. @param own the executor of this process */
export function localFeed({ services, call }: Operator, id: string, own: InProcessExecutor): RunFeed {
  const { read, engine } = services;
  let seq = 0;
  return {
    async read() {
      // Before the run: what changes in between is noticed by `changed`.
      const [summary] = await read.runs.getStatusSummaries([id]);
      ({ seq } = summary!);
      return call<Run>(getRun, { run_id: id, detail: "steps" });
    },
    changed: async (ms, signal) => void (await engine.waitForChange(id, seq, { ms, signal })),
    output: () => read.runs.runOutput(id),
    cancel: () => call(cancelRun, { run_id: id }),
    isExecutedHere: () => own.isStarted(),
  };
}
