/** The metrics of a process and the port that serves them. Without a port, no metrics code is loaded. */
import type { Logger } from "pino";
import type { Config } from "../../schemas/config.ts";
import { VERSION } from "../app/build.ts";
import type { Instance } from "../app/instance.ts";
import { readInstanceStats } from "../app/instance-stats.ts";
import type { Settings } from "../config/environment.ts";
import { SECOND, systemClock } from "../core/clock.ts";
import { hostForUrl } from "../core/hosts.ts";
import type { Meter } from "../core/meter.ts";
import { type Listener, listen } from "../surfaces/http-server.ts";
import { metricsPage } from "../surfaces/metrics-page.ts";
import type { ProcessName } from "../telemetry/metrics.ts";
import { type ExecutorMetrics, executorMetrics } from "./executor-metrics.ts";
import { CommandError, EXIT, describeListenError } from "./io.ts";

/** Maximum number of connections. The port needs no key, so its clients must not exhaust the process. */
const CONNECTIONS = { total: 64, clientOf: () => undefined };

export interface MetricsOptions {
  /** Takes precedence over MILLRACE_METRICS_PORT; without both there are no metrics. */
  metricsPort?: number;
  metricsHost?: string;
}

export interface MetricsPort {
  meter: Meter;
  /** Collects the metrics of the executors that a server starts. */
  executors: ExecutorMetrics;
  /** @throws CommandError if the port cannot be listened on */
  listen(instance: Instance, config: Config, log: Logger): Promise<void>;
  /** Call this last, so that the metrics can be read while everything else shuts down. */
  close(): Promise<void>;
}

/** @returns undefined if no metrics port is configured */
export async function openMetricsPort(
  name: ProcessName,
  { metrics }: Pick<Settings, "metrics">,
  options: MetricsOptions,
): Promise<MetricsPort | undefined> {
  const port = options.metricsPort ?? metrics.port;
  if (port === undefined) return undefined;
  const host = options.metricsHost ?? metrics.host;
  const [{ openMetrics }, { METRICS_CONTENT_TYPE, renderExposition, mergeExitedProcess }] = await Promise.all(
    [import("../telemetry/metrics.ts"), import("../telemetry/metrics-snapshot.ts")],
  );
  const own = openMetrics(name, VERSION);
  const executors = executorMetrics(mergeExitedProcess);
  const read = async () => {
    const [ownMetrics, others] = await Promise.all([own.snapshot(), executors.collect()]);
    return { contentType: METRICS_CONTENT_TYPE, text: await renderExposition([ownMetrics, ...others]) };
  };
  let listener: Listener | undefined;
  return {
    meter: own.meter,
    executors,
    async listen(instance, { limits }, log) {
      own.registerStateSource(() => readInstanceStats(instance, systemClock, limits.free_disk));
      const page = metricsPage(read, (err) => log.warn({ err }, "metrics not read"));
      const lifecycle = { draining: false };
      const at = { host, port, lifecycle, connections: CONNECTIONS, drainTimeoutMs: SECOND };
      listener = await listen(page, at).catch((error: unknown) => {
        const message = describeListenError(error, { port: "--metrics-port", host: "--metrics-host" });
        throw message === undefined ? error : new CommandError(message, EXIT.port);
      });
      log.info(
        { host, port: listener.port },
        `metrics available at http://${hostForUrl(host)}:${listener.port}/metrics`,
      );
    },
    async close() {
      await listener?.drain(0);
    },
  };
}
