/** `millrace worker`: an executor in its own process, so that a step can neither block nor crash a server. */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { VERSION } from "../app/build.ts";
import { startExecutor } from "../app/executor.ts";
import { openInstance } from "../app/instance.ts";
import { openTracer } from "../app/tracer.ts";
import { secretMasker } from "../connections/secret-masker.ts";
import { readSetup } from "../config/setup.ts";
import { agreedClock } from "../core/agreed-clock.ts";
import { HOUR } from "../core/clock.ts";
import { clockCheck } from "../core/clock-check.ts";
import { databaseFileIn } from "../store/state-directory.ts";
import type { MetricsSnapshot } from "../telemetry/metrics-snapshot.ts";
import { newExecutorId } from "../core/ids.ts";
import { CommandError, endTracing, EXIT, flushLog, type Io, openLog } from "./io.ts";
import { logSecrets, readSecrets } from "./log-secrets.ts";
import { type MetricsOptions, openMetricsPort } from "./metrics.ts";
import { aborted, openWhenUsable, runService, stopSignal } from "./service.ts";

export interface WorkerOptions extends MetricsOptions {
  config?: string;
  /** Maximum number of steps that run at the same time. */
  slots: number;
  /** The executor id, given by the server that started this process. */
  id?: string;
  /** Whether the server that started this process collects its metrics. */
  metered?: boolean;
  /** How long another executor may miss heartbeats before it counts as dead, in milliseconds; default: by file system. */
  lease?: number;
}

/** What an executor uses of the process. */
export interface WorkerHost {
  onStop(stop: () => void): void;
  /** Calls back with messages of the server that started this process: jobs are ready, or it collects metrics. */
  onMessage(listener: (message: { wake: true } | { metrics: true }) => void): void;
  /** Sends a message to the server that started this process. */
  send(message: { ready: true } | { changed: readonly string[] } | { metrics: MetricsSnapshot }): void;
}

/** How long running steps have to end when the worker stops, in milliseconds. */
const STOP_GRACE_MS = 10_000;

/** Executes jobs until the process must end. */
export async function worker(io: Io, host: WorkerHost, options: WorkerOptions): Promise<void> {
  const signal = stopSignal(host);
  const { settings, config, secrets, warnings } = readSetup(io.env, options.config);
  const log = await openLog(io, settings.logLevel, "worker", secretMasker(config, secrets, settings.masked));
  // The server that started this process has logged the same warnings.
  if (options.id === undefined) for (const warning of warnings) log.warn(warning);

  // The server has opened the state before. If it is gone now, an empty state must not take its place.
  const isInDirectory = settings.database === undefined;
  if (options.id !== undefined && isInDirectory && !existsSync(databaseFileIn(settings.stateDir))) {
    throw new CommandError(
      `The state is gone from ${settings.stateDir}. Stop Millrace and restore a backup.`,
      EXIT.state,
    );
  }
  let storageLost = false;
  await runService(io, log, async () => {
    await using starting = new AsyncDisposableStack();
    // While the state is not usable, nothing else keeps the process alive.
    const keepAlive = setInterval(() => {}, HOUR);
    starting.defer(() => clearInterval(keepAlive));
    logSecrets(secrets, log);
    starting.defer(() => secrets.close());
    const secretsLoaded = readSecrets(secrets);
    const tracer = await openTracer(settings, "worker", log);
    starting.defer(() => endTracing(io, tracer));
    // The server that started this process serves its metrics on its own port.
    const port = options.id === undefined ? await openMetricsPort("worker", settings, options) : undefined;
    const metrics = options.metered
      ? (await import("../telemetry/metrics.ts")).openMetrics("worker", VERSION)
      : undefined;
    const meter = port?.meter ?? metrics?.meter;
    const clock = agreedClock();
    const instance = await openWhenUsable(() => openInstance(settings, clock, log, { meter }), {
      signal,
      log,
      close: (opened) => opened.close(),
    });
    starting.defer(() => instance.close());
    await port?.listen(instance, config, log);
    starting.defer(() => port?.close());
    // So that no step waits for the command that gives them.
    await Promise.race([secretsLoaded, aborted(signal)]);
    const executor = await openWhenUsable(
      () =>
        startExecutor(
          instance,
          { settings, config, clock, clockCheck: clockCheck(clock, instance.store, log), tracer },
          {
            id: options.id ?? newExecutorId(hostname()),
            slots: options.slots,
            leaseMs: options.lease,
            onChanged: (changed) => host.send({ changed }),
          },
        ),
      { signal, log, close: (started) => started.stop(0) },
    );
    starting.defer(async () => {
      // If the state cannot be written, no step can record its outcome.
      const unwritable = storageLost || (await instance.store.checkHealth()) !== undefined;
      await executor.stop(unwritable ? 0 : STOP_GRACE_MS);
    });
    const sendMetrics = (): void => {
      metrics
        ?.snapshot()
        .then((snapshot) => host.send({ metrics: snapshot }))
        .catch((err: unknown) => log.warn({ err }, "metrics not read"));
    };
    host.onMessage((message) => ("metrics" in message ? sendMetrics() : executor.queue.wake()));
    log.info({ executor: executor.queue.executor, slots: options.slots }, "worker started");
    host.send({ ready: true });
    void instance.store.storageLost.then(() => (storageLost = true));
    await Promise.race([aborted(signal), instance.store.storageLost]);
    log.info("worker shutting down");
  });
  log.info("worker stopped");
  await flushLog(log);
  if (storageLost) {
    throw new CommandError(
      "The network file system that holds the state failed. Start the process again.",
      EXIT.state,
    );
  }
}
