/** Metrics of a process of ours, with something in each of them. */
import type { Meter } from "../../src/core/meter.ts";
import { type Metrics, openMetrics } from "../../src/telemetry/metrics.ts";
import { exposition } from "../../src/telemetry/snapshots.ts";
import type { StateNumbers } from "../../src/telemetry/state-gauges.ts";
import { type Family, parseExposition } from "./exposition.ts";

export const STATE: StateNumbers = {
  runs: { queued: 1, waiting: 2 },
  jobs: { ready: 3, later: 4, claimed: 5 },
  oldestReady: 6.5,
  executors: 2,
  approvals: 1,
  file: { size: 4_096, free: 1e9 },
};

/** Has everything happen once. */
function exercise(meter: Meter): void {
  meter.operation({ name: "list_workflows", surface: "rest", status: 200, seconds: 0.01 });
  meter.refused("rest", "unauthorized");
  meter.stream("sse", 1);
  meter.runStarted("rest");
  meter.runEnded({ status: "failed", trigger: "rest", code: "step_failed", seconds: 1 });
  meter.attempt({ type: "model", outcome: "failed", code: "timeout", seconds: 2 });
  meter.poisoned();
  meter.claimed("step");
  meter.takenOver("lease", 2);
  meter.executorEnded();
  meter.connection({ kind: "model", name: "writer", outcome: "ok", seconds: 2 });
  meter.tokens("writer", { input: 100, output: 20 });
  meter.state("read", 0.001);
  meter.stateBusy();
}

export function exercised(): Metrics {
  const metrics = openMetrics("serve", "1.2.3");
  metrics.showState(() => Promise.resolve(STATE));
  exercise(metrics.meter);
  return metrics;
}

/** What Prometheus would read of these. */
export const read = async (...metrics: readonly Metrics[]): Promise<Map<string, Family>> =>
  parseExposition(await exposition(await Promise.all(metrics.map((it) => it.snapshot()))));
