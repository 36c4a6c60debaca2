/** `worker`: an executor, a process of its own, so that nothing that a step does can stall or end a listener. */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { VERSION } from "../app/build.ts";
import { startExecutor } from "../app/executor.ts";
import { openInstance } from "../app/instance.ts";
import { openTracer } from "../app/tracer.ts";
import { readSetup } from "../config/setup.ts";
import { HOUR, systemClock } from "../core/clock.ts";
import { databaseFileIn } from "../store/state-directory.ts";
import type { MetricsSnapshot } from "../telemetry/metrics-snapshot.ts";
import { newExecutorId } from "../core/ids.ts";
import { CommandError, endTracing, EXIT, flushLog, type Io, openLog } from "./io.ts";
import { type MetricsOptions, openMetricsPort } from "./metrics.ts";

export interface WorkerOptions extends MetricsOptions {
  config?: string;
  /** How many steps run at a time. */
  slots: number;
  /** The listener that started it names it. */
  id?: string;
  /** The listener that started it asks for its numbers, and shows them with its own. */
  metered?: boolean;
  /** Milliseconds that another's beat may stand still; left out: what suits the file system. */
  lease?: number;
}

/** What the process does for an executor. */
export interface WorkerHost {
  onStop(stop: () => void): void;
  /** Called when the listener that started it says that there is something to do, or asks for numbers. */
  onMessage(listener: (message: { ring: true } | { numbers: true }) => void): void;
  /** Tells the listener that started it. */
  send(message: { ready: true } | { changed: readonly string[] } | { numbers: MetricsSnapshot }): void;
}

const GRACE_MS = 10_000;

/** Carries runs out until it is told to stop. */
export async function worker(io: Io, host: WorkerHost, options: WorkerOptions): Promise<void> {
  const stopped = new Promise<void>((resolve) => host.onStop(resolve));
  const { settings, config, warnings } = readSetup(io.env, options.config);
  const log = await openLog(io, settings.logLevel, "worker");
  // Who was started by a listener need not repeat what that has said.
  if (options.id === undefined) for (const warning of warnings) log.warn(warning);

  // A listener has opened the state before: where it is gone, an empty one in its place would help nobody.
  if (options.id !== undefined && !existsSync(databaseFileIn(settings.stateDir))) {
    throw new CommandError(
      `The state that the worker was started for is gone from ${settings.stateDir}.`,
      EXIT.state,
    );
  }
  const tracer = await openTracer(settings, "worker", log);
  // Who started it has a port, and the same environment.
  const port = options.id === undefined ? await openMetricsPort("worker", settings, options) : undefined;
  const numbers = options.metered
    ? (await import("../telemetry/metrics.ts")).openMetrics("worker", VERSION)
    : undefined;
  const meter = port?.meter ?? numbers?.meter;
  const instance = await openInstance(settings.stateDir, systemClock, log, undefined, meter);
  await port?.listen(instance, log).catch(async (error: unknown) => {
    await instance.close();
    throw error;
  });
  const executor = await startExecutor(
    instance,
    { settings, config, clock: systemClock, tracer },
    {
      id: options.id ?? newExecutorId(hostname()),
      slots: options.slots,
      leaseMs: options.lease,
      onChanged: (changed) => host.send({ changed }),
    },
  );
  const tellNumbers = (): void => {
    numbers
      ?.snapshot()
      .then((told) => host.send({ numbers: told }))
      .catch((err: unknown) => log.warn({ err }, "metrics could not be read"));
  };
  host.onMessage((message) => ("numbers" in message ? tellNumbers() : executor.queue.wake()));
  log.info({ executor: executor.queue.executor, slots: options.slots }, "worker takes jobs");
  host.send({ ready: true });
  // Nothing else keeps a process that waits for work and has no channel to a listener.
  const alive = setInterval(() => {}, HOUR);
  let gone: boolean;
  try {
    gone = await Promise.race([stopped.then(() => false), instance.store.storageLost.then(() => true)]);
    log.info("worker is shutting down");
    try {
      // What nobody can write down need not be waited for.
      const lost = gone || (await instance.store.checkHealth()) !== undefined;
      await executor.stop(lost ? 0 : GRACE_MS);
    } finally {
      await port?.close();
      await instance.close();
      await endTracing(io, tracer);
    }
  } finally {
    clearInterval(alive);
  }
  log.info("worker has stopped");
  await flushLog(log);
  if (gone) {
    throw new CommandError("The network file system that holds the state failed. Start again.", EXIT.state);
  }
}
