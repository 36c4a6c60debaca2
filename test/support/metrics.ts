/** Metrics of a process in which every series has a value. */
import type { Meter } from "../../src/core/meter.ts";
import { type Metrics, openMetrics } from "../../src/telemetry/metrics.ts";
import { renderExposition } from "../../src/telemetry/metrics-snapshot.ts";
import type { InstanceStats } from "../../src/telemetry/state-gauges.ts";
import { type MetricFamily, parseExposition } from "./exposition.ts";

export const SAMPLE_STATE: InstanceStats = {
  runs: { queued: 1, waiting: 2 },
  jobs: { ready: 3, later: 4, claimed: 5 },
  oldestReadySeconds: 6.5,
  executors: 2,
  deliveries: { pending: 2, failed: 1 },
  approvals: 1,
  size: 4_096,
  disk: { free: 1e9, minFree: 5e8 },
};

/** Reports every event to the meter once. */
function exercise(meter: Meter): void {
  meter.operationCompleted({ name: "list_workflows", surface: "rest", status: 200, seconds: 0.01 });
  meter.requestRejected("rest", "unauthorized");
  meter.streamCountChanged("sse", 1);
  meter.runStarted("rest");
  meter.runEnded({ status: "failed", trigger: "rest", code: "step_failed", seconds: 1 });
  meter.attemptEnded({ type: "model", outcome: "failed", code: "timeout", seconds: 2 });
  meter.jobPoisoned();
  meter.jobClaimed("step");
  meter.jobsReclaimed("lease", 2);
  meter.executorEnded();
  meter.connectionCalled({ kind: "model", name: "writer", outcome: "ok", seconds: 2 });
  meter.deliveryAttempted({ event: "run.failed", outcome: "delivered", seconds: 0.1 });
  meter.triggerDeliveryReceived("repeated");
  meter.triggerDeliveryEnded("filtered");
  meter.tokensUsed("writer", { input: 100, output: 20 });
  meter.storageAccessed("read", 0.001);
  meter.storageBusy();
}

export function exercisedMetrics(): Metrics {
  const metrics = openMetrics("serve", "1.2.3");
  metrics.registerStateSource(() => Promise.resolve(SAMPLE_STATE));
  exercise(metrics.meter);
  return metrics;
}

/** Parses the exposition of metrics. */
export const readMetrics = async (...metrics: readonly Metrics[]): Promise<Map<string, MetricFamily>> =>
  parseExposition(await renderExposition(await Promise.all(metrics.map((it) => it.snapshot()))));
