/** The numbers of a process, and the port they are read at. Nothing of it is loaded where no port is asked for. */
import type { Logger } from "pino";
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

/** No key is asked for here: whoever reaches this port must not use up what the other one needs. */
const MOST_CONNECTIONS = 64;

export interface MetricsOptions {
  /** Goes before MILLRACE_METRICS_PORT; without either there are no metrics. */
  metricsPort?: number;
  metricsHost?: string;
}

export interface MetricsPort {
  meter: Meter;
  /** Those of its own that a listener starts are to be watched. */
  executors: ExecutorMetrics;
  /** @throws CommandError when the port can't be listened on */
  listen(instance: Instance, log: Logger): Promise<void>;
  /** To be called last, so that what happens while others end can still be read. */
  close(): Promise<void>;
}

/** @returns undefined where no port is asked for */
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
    const [mine, others] = await Promise.all([own.snapshot(), executors.collect()]);
    return { contentType: METRICS_CONTENT_TYPE, text: await renderExposition([mine, ...others]) };
  };
  let listener: Listener | undefined;
  return {
    meter: own.meter,
    executors,
    async listen(instance, log) {
      own.registerStateSource(() => readInstanceStats(instance, systemClock));
      const page = metricsPage(read, (err) => log.warn({ err }, "metrics could not be read"));
      const lifecycle = { draining: false };
      const at = { host, port, lifecycle, maxConnections: MOST_CONNECTIONS, drainTimeoutMs: SECOND };
      listener = await listen(page, at).catch((error: unknown) => {
        const told = describeListenError(error, { port: "--metrics-port", host: "--metrics-host" });
        throw told === undefined ? error : new CommandError(told, EXIT.port);
      });
      log.info(
        { host, port: listener.port },
        `metrics are at http://${hostForUrl(host)}:${listener.port}/metrics`,
      );
    },
    async close() {
      await listener?.drain(0);
    },
  };
}
