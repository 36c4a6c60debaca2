/** Makes sure that runs are executed: by the running executors, else by one in this process. */
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Executor, startExecutor } from "../app/executor.ts";
import type { Instance } from "../app/instance.ts";
import type { ExecutorNotifier, Setup } from "../app/services.ts";
import { HOUR } from "../core/clock.ts";
import { newExecutorId } from "../core/ids.ts";
import type { Io } from "./io.ts";
import type { Operator } from "./operator.ts";

/** Poll interval for running executors, in milliseconds. */
const POLL_MS = 250;
const SLOTS = 32;
/** How long running steps have to end when the executor stops, in milliseconds. */
const STOP_GRACE_MS = 10_000;

/** An executor in this process that is started only if it is needed. */
export interface InProcessExecutor extends ExecutorNotifier {
  isStarted(): boolean;
  start(instance: Instance, setup: Setup): Promise<void>;
  stop(): Promise<void>;
}

export function inProcessExecutor(): InProcessExecutor {
  const listeners: ((runIds: readonly string[]) => void)[] = [];
  let executor: Executor | undefined;
  return {
    wake: () => executor?.queue.wake(),
    onChanged: (listener) => void listeners.push(listener),
    isStarted: () => executor !== undefined,
    async start(instance, setup) {
      executor = await startExecutor(instance, setup, {
        id: newExecutorId(hostname()),
        slots: SLOTS,
        onChanged: (ids) => listeners.forEach((listener) => listener(ids)),
      });
      executor.queue.wake();
    },
    async stop() {
      await executor?.stop(STOP_GRACE_MS);
    },
  };
}

/**
 * Does `work`, and starts an executor in this process if no other executor is running, now or later.
 * @param own the executor that the operator's services wake
 */
export async function withExecutor<T>(
  io: Io,
  { instance, setup }: Operator,
  own: InProcessExecutor,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const startOwn = (): Promise<void> => {
    io.err(
      "No executor is running, so this command executes runs itself (millrace start and millrace worker start executors).\n",
    );
    return own.start(instance, setup);
  };
  // Before the work, which may require a running executor.
  if ((await instance.read.jobs.executors()).length === 0) await startOwn();
  const watching = (async () => {
    if (!own.isStarted() && (await waitUntilNoExecutor(instance, done.signal))) await startOwn();
  })();
  // Timers of the store and the engine are unreferenced: without this one the process would exit.
  const keepAlive = setInterval(() => {}, HOUR);
  try {
    // Rejects if watching fails, and otherwise waits for the work.
    return await Promise.race([work(), watching.then(() => new Promise<never>(() => {}))]);
  } finally {
    done.abort();
    await watching.catch(() => undefined);
    await own.stop();
    clearInterval(keepAlive);
  }
}

/**
 * Resolves with true as soon as no executor is running: none is listed, or none has sent a heartbeat for a lease. Resolves
 * with false when `signal` is aborted.
 */
async function waitUntilNoExecutor(instance: Instance, signal: AbortSignal): Promise<boolean> {
  const seen = new Map<string, number>();
  let lastHeartbeat = performance.now();
  for (;;) {
    const executors = await instance.read.jobs.executors();
    for (const { id, heartbeats } of executors) {
      if (seen.get(id) !== heartbeats) lastHeartbeat = performance.now();
      seen.set(id, heartbeats);
    }
    if (signal.aborted) return false;
    if (executors.length === 0 || performance.now() - lastHeartbeat > instance.store.leaseMs) return true;
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
