/** The executors of a server: child processes that are restarted when they end. */
import type { ChildProcess } from "node:child_process";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { ExecutorNotifier } from "../app/services.ts";
import { newExecutorId } from "../core/ids.ts";
import type { MetricsPort } from "./metrics.ts";

/** Delay before the first restart, in milliseconds; it doubles with each restart that follows soon. */
const MIN_RESTART_DELAY_MS = 100;
/** Maximum delay before a restart, in milliseconds. */
const MAX_RESTART_DELAY_MS = 30_000;
/** An executor that ran this long did not fail at its start, in milliseconds. */
const STABLE_AFTER_MS = 10_000;
/** Longer than an executor takes to stop in order, in milliseconds. */
const KILL_AFTER_MS = 15_000;

export interface ExecutorPool extends ExecutorNotifier {
  /** Stops all executors and waits until they have ended. */
  stop(): Promise<void>;
}

/**
 * Starts `count` executors.
 * @param spawn starts this program again with other arguments and an IPC channel to it
 * @param metrics the port on which their metrics are read, if there is one
 * @param reclaim gives the jobs of an executor that ended to the others, at once
 */
export function startExecutors(
  spawn: (args: readonly string[]) => ChildProcess,
  {
    count,
    config,
    log,
    metrics,
  }: { count: number; config: string | undefined; log: Logger; metrics?: MetricsPort | undefined },
  reclaim: (executor: string) => Promise<void>,
): ExecutorPool {
  const listeners: ((runIds: readonly string[]) => void)[] = [];
  const children = new Map<string, ChildProcess>();
  let stopping = false;
  let wakeCount = 0;

  function start(restartDelay: number): void {
    const id = newExecutorId(hostname());
    const startedAt = performance.now();
    const args = [
      "worker",
      "--id",
      id,
      ...(config === undefined ? [] : ["--config", config]),
      ...(metrics === undefined ? [] : ["--metered"]),
    ];
    let child: ChildProcess;
    try {
      child = spawn(args);
    } catch (err) {
      // The machine has no memory for another process, for example.
      log.error({ err, executor: id }, "executor not started");
      restart(restartDelay);
      return;
    }
    children.set(id, child);
    metrics?.executors.track(child);
    child.on("message", (message) => {
      const { changed } = message as { changed?: readonly string[] };
      if (changed !== undefined) for (const listener of listeners) listener(changed);
    });
    const onEnd = (code: number | null, signal: string | null): void => {
      if (!children.delete(id) || stopping) return;
      metrics?.meter.executorEnded();
      const stable = performance.now() - startedAt > STABLE_AFTER_MS;
      const next = restart(stable ? undefined : restartDelay);
      log.error({ executor: id, code, signal, restart_in_ms: next }, "executor ended unexpectedly");
      reclaim(id).catch((err: unknown) =>
        log.warn({ err, executor: id }, "jobs not reclaimed; they are reclaimed when the lease expires"),
      );
    };
    child.once("exit", onEnd);
    child.on("error", (err) => {
      log.error({ err, executor: id }, "executor not started or not reached");
      // A process that could not be started emits no "exit".
      if (child.pid === undefined) onEnd(null, null);
    });
  }

  /** @param delay before the last restart; undefined if the executor ran for some time. @returns the delay, in milliseconds */
  function restart(delay: number | undefined): number {
    const next = delay === undefined ? MIN_RESTART_DELAY_MS : Math.min(delay * 2, MAX_RESTART_DELAY_MS);
    setTimeout(() => {
      if (!stopping) start(next);
    }, next).unref();
    return next;
  }

  for (let index = 0; index < count; index += 1) start(MIN_RESTART_DELAY_MS);

  return {
    wake() {
      const all = [...children.values()];
      wakeCount += 1;
      // One is enough: if it has no free slot, the others find the job when they poll.
      const child = all[wakeCount % all.length];
      // One that has just ended is reported by its exit. Without a callback each message would be an error, too.
      if (child?.connected === true) child.send({ wake: true }, () => {});
    },
    onChanged: (listener) => void listeners.push(listener),
    async stop() {
      stopping = true;
      const started = [...children.values()].filter((child) => child.pid !== undefined);
      await Promise.all(
        started.map(
          (child) =>
            new Promise<void>((resolve) => {
              const kill = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS).unref();
              child.once("exit", () => {
                clearTimeout(kill);
                resolve();
              });
              child.kill("SIGTERM");
            }),
        ),
      );
    },
  };
}
