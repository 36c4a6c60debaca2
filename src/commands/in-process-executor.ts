/** Sees that a run is carried out: by executors that are there, else by one in this process. */
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { type Executor, startExecutor } from "../app/executor.ts";
import { type Instance, leaseDurationMs } from "../app/instance.ts";
import type { ExecutorNotifier, Setup } from "../app/services.ts";
import { HOUR } from "../core/clock.ts";
import { newExecutorId } from "../core/ids.ts";
import type { Io } from "./io.ts";
import type { Operator } from "./operator.ts";

const LOOK_MS = 250;
const SLOTS = 32;
const GRACE_MS = 10_000;

/** What an executor of this process would be told and tells; there may be none. */
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
      await executor?.stop(GRACE_MS);
    },
  };
}

/**
 * Does some work while runs go on: in this process if, and as soon as, no executor is alive.
 * @param own the executor that the operator's services ring
 */
export async function withExecutor<T>(
  io: Io,
  { instance, setup }: Operator,
  own: InProcessExecutor,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const startOwn = (): Promise<void> => {
    io.err(
      "No executor is running, so this process carries runs out itself (millrace start and worker run some).\n",
    );
    return own.start(instance, setup);
  };
  // Before the work: it may ask whether there is one.
  if ((await instance.read.jobs.executors()).length === 0) await startOwn();
  const carrying = (async () => {
    if (!own.isStarted() && (await nobodyCarries(instance, over.signal))) await startOwn();
  })();
  // The timers of what is waited for do not keep a process.
  const alive = setInterval(() => {}, HOUR);
  try {
    return await Promise.race([work(), carrying.then(() => new Promise<never>(() => {}))]);
  } finally {
    over.abort();
    await carrying.catch(() => undefined);
    await own.stop();
    clearInterval(alive);
  }
}

/**
 * Resolves once no executor is alive: none is listed, or the beats of all have stood still for a lease. Goes on looking
 * until `signal` is aborted; then it gives false.
 */
async function nobodyCarries(instance: Instance, signal: AbortSignal): Promise<boolean> {
  const seen = new Map<string, number>();
  let moved = performance.now();
  for (;;) {
    const executors = await instance.read.jobs.executors();
    for (const { id, heartbeats } of executors) {
      if (seen.get(id) !== heartbeats) moved = performance.now();
      seen.set(id, heartbeats);
    }
    if (signal.aborted) return false;
    if (executors.length === 0 || performance.now() - moved > leaseDurationMs(instance)) return true;
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
