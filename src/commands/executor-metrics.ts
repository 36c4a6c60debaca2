/** The metrics of a server's executors, collected over IPC; those of an executor that ended are kept. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { SECOND } from "../core/clock.ts";
import type { MetricsSnapshot } from "../telemetry/metrics-snapshot.ts";

/** How long an executor has to answer, in milliseconds; after that its previous metrics are used. */
const ANSWER_LIMIT_MS = SECOND;

export interface ExecutorMetrics {
  /** Includes the metrics of this executor from now on. */
  track(child: ChildProcess): void;
  /** The metrics of running executors, and the sum of those that ended. */
  collect(): Promise<MetricsSnapshot[]>;
}

/** Requests the metrics of an executor; resolves when they arrive or the executor ends. */
const requestMetrics = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      if (metricsIn(message) === undefined) return;
      child.off("message", onMessage);
      resolve();
    };
    child.on("message", onMessage);
    child.once("exit", () => resolve());
    // If sending fails, the executor has ended, and "exit" resolves.
    child.send({ metrics: true }, () => {});
  });

/** @param mergeExited adds the last metrics of an executor that ended to the sum of those before it */
export function executorMetrics(
  mergeExited: (exited: MetricsSnapshot, last: MetricsSnapshot) => Promise<MetricsSnapshot>,
): ExecutorMetrics {
  const last = new Map<ChildProcess, MetricsSnapshot>();
  let exited: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    track(child) {
      last.set(child, []);
      child.on("message", (message) => {
        const metrics = metricsIn(message);
        if (metrics !== undefined && last.has(child)) last.set(child, metrics);
      });
      const onExit = (): void => {
        const metrics = last.get(child);
        if (metrics === undefined) return;
        last.delete(child);
        exited = exited.then((before) => mergeExited(before, metrics));
      };
      child.once("exit", onExit);
      // A process that could not be started emits no "exit".
      child.on("error", () => {
        if (child.pid === undefined) onExit();
      });
    },
    async collect() {
      const requests = [...last.keys()].filter((child) => child.connected).map(requestMetrics);
      await Promise.race([Promise.all(requests), delay(ANSWER_LIMIT_MS, undefined, { ref: false })]);
      return [await exited, ...last.values()];
    },
  };
}

const metricsIn = (message: unknown): MetricsSnapshot | undefined =>
  (message as { metrics?: MetricsSnapshot } | null)?.metrics;
