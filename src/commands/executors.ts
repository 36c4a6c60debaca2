/** The executors of a listener: child processes that are started again when they die. */
import type { ChildProcess } from "node:child_process";
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { ExecutorNotifier } from "../app/services.ts";
import { newExecutorId } from "../core/ids.ts";
import type { MetricsPort } from "./metrics.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Who has lived for so long did not die of its start. */
const SETTLED_MS = 10_000;
/** Longer than an executor takes to end by itself. */
const KILL_AFTER_MS = 15_000;

export interface ExecutorPool extends ExecutorNotifier {
  /** Asks all of them to end and waits. */
  stop(): Promise<void>;
}

/**
 * Starts `count` executors.
 * @param spawn starts this program again with other arguments, with a channel to it
 * @param metrics where their numbers are read, if they are
 * @param takeOver hands the jobs of a dead executor on, at once
 */
export function startExecutors(
  spawn: (args: readonly string[]) => ChildProcess,
  {
    count,
    config,
    log,
    metrics,
  }: { count: number; config: string | undefined; log: Logger; metrics?: MetricsPort | undefined },
  takeOver: (executor: string) => Promise<void>,
): ExecutorPool {
  const listeners: ((runIds: readonly string[]) => void)[] = [];
  const children = new Map<string, ChildProcess>();
  let stopping = false;
  let turn = 0;

  function start(pause: number): void {
    const id = newExecutorId(hostname());
    const began = performance.now();
    const child = spawn([
      "worker",
      "--id",
      id,
      ...(config === undefined ? [] : ["--config", config]),
      ...(metrics === undefined ? [] : ["--metered"]),
    ]);
    children.set(id, child);
    metrics?.executors.track(child);
    child.on("message", (message) => {
      const { changed } = message as { changed?: readonly string[] };
      if (changed !== undefined) for (const listener of listeners) listener(changed);
    });
    const gone = (code: number | null, signal: string | null): void => {
      if (!children.delete(id) || stopping) return;
      metrics?.meter.executorEnded();
      log.error({ executor: id, code, signal }, "an executor has ended; starting another");
      takeOver(id).catch((err: unknown) => log.warn({ err }, "its jobs are taken over after its lease"));
      const settled = performance.now() - began > SETTLED_MS;
      const next = settled ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
      setTimeout(() => {
        if (!stopping) start(next);
      }, next).unref();
    };
    child.once("exit", gone);
    // Also of a message that could not be sent: what has died says so by its end.
    child.on("error", (err) => {
      log.error({ err }, "an executor could not be started or reached");
      // What was never started does not end either.
      if (child.pid === undefined) gone(null, null);
    });
  }

  for (let index = 0; index < count; index += 1) start(FIRST_PAUSE_MS);

  return {
    wake() {
      const all = [...children.values()];
      turn += 1;
      // One is enough: who has no room leaves it to the others, who look for themselves.
      const child = all[turn % all.length];
      if (child?.connected === true) child.send({ ring: true });
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
