/**
 * Implements the meter with Prometheus metrics. It is loaded only when metrics are enabled.
 * @see https://prometheus.io/docs/practices/naming/
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { EVENT_TYPES, TEST_EVENT } from "../../schemas/subscription.ts";
import { FINAL_STATUSES, RunTrigger } from "../../schemas/run-status.ts";
import type { Meter, StorageAccess, StreamKind, ReclaimCause } from "../core/meter.ts";
import type { MetricsSnapshot } from "./metrics-snapshot.ts";
import { registerStateGauges, type InstanceStats } from "./state-gauges.ts";

/** The kind of process, which is the label `process` of all its metrics. */
export type ProcessName = "serve" | "mcp-sse" | "worker";

export interface Metrics {
  meter: Meter;
  /** Adds gauges from the database, which are the same on every process. */
  registerStateSource(read: () => Promise<InstanceStats>): void;
  snapshot(): Promise<MetricsSnapshot>;
}

/** Histogram buckets, in seconds. */
const BUCKETS = {
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  step: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800],
  run: [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600, 86_400],
  state: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
};

/** Gauges with the suffix of counters, which misleads Prometheus; the sums of other gauges give the same numbers. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

export function openMetrics(name: ProcessName, version: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: registry });
  for (const misnamed of MISNAMED) registry.removeSingleMetric(misnamed);
  new Gauge({
    name: "millrace_build_info",
    help: "The running release; the value is always 1.",
    labelNames: ["version"],
    registers: [registry],
    aggregator: "first",
  }).set({ version }, 1);
  let refreshState: (() => Promise<void>) | undefined;
  return {
    meter: meterOf(registry),
    registerStateSource(read) {
      refreshState = registerStateGauges(registry, read);
    },
    async snapshot() {
      await refreshState?.();
      return registry.getMetricsAsJSON();
    },
  };
}

function meterOf(registry: Registry): Meter {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[] = []): Counter<L> =>
    new Counter({ name: `millrace_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: L[],
  ): Histogram<L> => new Histogram({ name: `millrace_${name}`, help, labelNames, buckets, registers });

  const requests = counter("requests_total", "Operations, by HTTP status.", [
    "operation",
    "surface",
    "status",
  ]);
  const requestSeconds = histogram(
    "request_duration_seconds",
    "Duration of operations, including the wait for a run.",
    BUCKETS.request,
    ["operation", "surface"],
  );
  const refused = counter("requests_refused_total", "Requests rejected before an operation started.", [
    "surface",
    "code",
  ]);
  const streams = new Gauge({
    name: "millrace_open_streams",
    help: "Open event streams.",
    labelNames: ["kind"],
    registers,
  });
  const runsStarted = counter("runs_started_total", "Created runs.", ["trigger"]);
  const runsFinished = counter("runs_finished_total", "Ended runs.", ["status", "trigger"]);
  const runFailures = counter("run_failures_total", "Failed runs, by error code.", ["code"]);
  const runSeconds = histogram(
    "run_duration_seconds",
    "Time from a run's creation to its end, including waits.",
    BUCKETS.run,
    ["status"],
  );
  const backfillsEnded = counter("backfills_ended_total", "Backfills that finished or failed.", ["status"]);
  const attempts = counter("step_attempts_total", "Attempts of steps, by outcome.", ["type", "outcome"]);
  const stepFailures = counter("step_failures_total", "Failed attempts of steps, by error code.", [
    "type",
    "code",
  ]);
  const stepSeconds = histogram("step_duration_seconds", "Execution time of a step's code.", BUCKETS.step, [
    "type",
  ]);
  const poisoned = counter(
    "jobs_poisoned_total",
    "Jobs that were given up because they crashed their executors.",
  );
  const claimed = counter("jobs_claimed_total", "Jobs claimed by executors.", ["kind"]);
  const takeOvers = counter("executor_takeovers_total", "Dead executors whose jobs were reclaimed.", [
    "cause",
  ]);
  const jobsTaken = counter("jobs_taken_over_total", "Jobs reclaimed from dead executors.", ["cause"]);
  const restarts = counter(
    "executor_restarts_total",
    "Executors that exited unexpectedly and were replaced.",
  );
  const calls = counter("connection_calls_total", "Calls of databases, models and MCP servers by steps.", [
    "kind",
    "name",
    "outcome",
  ]);
  const callSeconds = histogram(
    "connection_call_duration_seconds",
    "Duration of calls of databases, models and MCP servers.",
    BUCKETS.step,
    ["kind", "name"],
  );
  const deliveries = counter("deliveries_total", "Attempts to deliver events, by outcome.", [
    "event",
    "outcome",
  ]);
  const deliverySeconds = histogram(
    "delivery_duration_seconds",
    "Duration of attempts to deliver events.",
    BUCKETS.step,
    ["outcome"],
  );
  const hooksReceived = counter("trigger_deliveries_received_total", "Deliveries to triggers, by answer.", [
    "result",
  ]);
  const hooksEnded = counter("trigger_deliveries_ended_total", "Recorded deliveries to triggers, by end.", [
    "status",
  ]);
  const tokens = counter("model_tokens_total", "Input and output tokens of models.", ["model", "direction"]);
  const stateSeconds = histogram(
    "state_duration_seconds",
    "Duration of database reads, waits for the write lock, and write transactions.",
    BUCKETS.state,
    ["access"],
  );
  const busy = counter("state_busy_retries_total", "Retries because another process held the database lock.");

  // Series of alerts and rates exist from the start, because Prometheus sees no increase in a new series.
  for (const cause of ["exit", "lease"] satisfies ReclaimCause[]) {
    takeOvers.inc({ cause }, 0);
    jobsTaken.inc({ cause }, 0);
  }
  for (const kind of ["run_events", "sse", "mcp"] satisfies StreamKind[]) streams.set({ kind }, 0);
  for (const trigger of RunTrigger.options) {
    runsStarted.inc({ trigger }, 0);
    for (const status of FINAL_STATUSES) runsFinished.inc({ status, trigger }, 0);
  }
  for (const status of ["finished", "failed"] as const) backfillsEnded.inc({ status }, 0);
  for (const event of [...EVENT_TYPES, TEST_EVENT])
    for (const outcome of ["delivered", "failed"]) deliveries.inc({ event, outcome }, 0);
  for (const result of ["recorded", "repeated", "refused"]) hooksReceived.inc({ result }, 0);
  for (const status of ["started", "filtered", "failed"]) hooksEnded.inc({ status }, 0);
  for (const access of ["read", "write_wait", "write"] satisfies StorageAccess[])
    stateSeconds.zero({ access });

  return {
    operationCompleted({ name: operation, surface, status, seconds }) {
      requests.inc({ operation, surface, status });
      requestSeconds.observe({ operation, surface }, seconds);
    },
    requestRejected: (surface, code) => refused.inc({ surface, code }),
    streamCountChanged: (kind, change) => streams.inc({ kind }, change),
    runStarted: (trigger) => runsStarted.inc({ trigger }),
    runEnded({ status, trigger, code, seconds }) {
      runsFinished.inc({ status, trigger });
      runSeconds.observe({ status }, seconds);
      if (code !== null) runFailures.inc({ code });
    },
    backfillEnded: (status) => backfillsEnded.inc({ status }),
    attemptEnded({ type, outcome, code, seconds }) {
      attempts.inc({ type, outcome });
      if (code !== null) stepFailures.inc({ type, code });
      if (seconds !== undefined) stepSeconds.observe({ type }, seconds);
    },
    jobPoisoned: () => poisoned.inc(),
    jobClaimed: (kind) => claimed.inc({ kind }),
    jobsReclaimed(cause, jobs) {
      takeOvers.inc({ cause });
      jobsTaken.inc({ cause }, jobs);
    },
    executorEnded: () => restarts.inc(),
    connectionCalled({ kind, name, outcome, seconds }) {
      calls.inc({ kind, name, outcome });
      callSeconds.observe({ kind, name }, seconds);
    },
    deliveryAttempted({ event, outcome, seconds }) {
      deliveries.inc({ event, outcome });
      deliverySeconds.observe({ outcome }, seconds);
    },
    triggerDeliveryReceived: (result) => hooksReceived.inc({ result }),
    triggerDeliveryEnded: (status) => hooksEnded.inc({ status }),
    tokensUsed(model, { input, output }) {
      tokens.inc({ model, direction: "input" }, input);
      tokens.inc({ model, direction: "output" }, output);
    },
    storageAccessed: (access, seconds) => stateSeconds.observe({ access }, seconds),
    storageBusy: () => busy.inc(),
  };
}
