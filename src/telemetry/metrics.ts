/**
 * The meter as metrics of Prometheus. Loaded only where they are asked for.
 * @see https://prometheus.io/docs/practices/naming/
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { FINAL_STATUSES, RunTrigger } from "../../schemas/run.ts";
import type { Meter, StorageAccess, StreamKind, ReclaimCause } from "../core/meter.ts";
import type { MetricsSnapshot } from "./metrics-snapshot.ts";
import { registerStateGauges, type InstanceStats } from "./state-gauges.ts";

/** Which kind of process it is: the label `process` of everything that it counts. */
export type ProcessName = "serve" | "mcp-sse" | "worker";

export interface Metrics {
  meter: Meter;
  /** From now on what the database says is shown too; the same from every copy. */
  registerStateSource(read: () => Promise<InstanceStats>): void;
  /** Everything as it is now. */
  snapshot(): Promise<MetricsSnapshot>;
}

/** In seconds. */
const BUCKETS = {
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  step: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800],
  run: [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600, 21_600, 86_400],
  state: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
};

/** Gauges that the library calls totals, which tells Prometheus that they only grow; the sum of others says the same. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** Makes the metrics of this process. */
export function openMetrics(name: ProcessName, version: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process: name });
  collectDefaultMetrics({ register: registry });
  for (const misnamed of MISNAMED) registry.removeSingleMetric(misnamed);
  new Gauge({
    name: "millrace_build_info",
    help: "Which release runs; always 1.",
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

  const requests = counter("requests_total", "Operations asked for, by the status of the answer.", [
    "operation",
    "surface",
    "status",
  ]);
  const requestSeconds = histogram(
    "request_duration_seconds",
    "How long operations took, waiting for a run included.",
    BUCKETS.request,
    ["operation", "surface"],
  );
  const refused = counter("requests_refused_total", "Requests refused before they came to an operation.", [
    "surface",
    "code",
  ]);
  const streams = new Gauge({
    name: "millrace_open_streams",
    help: "Event streams that are open now.",
    labelNames: ["kind"],
    registers,
  });
  const runsStarted = counter("runs_started_total", "Runs taken in.", ["trigger"]);
  const runsFinished = counter("runs_finished_total", "Runs that have ended.", ["status", "trigger"]);
  const runFailures = counter("run_failures_total", "Runs that have failed, by the code of their error.", [
    "code",
  ]);
  const runSeconds = histogram(
    "run_duration_seconds",
    "From a run's acceptance to its end, waits included.",
    BUCKETS.run,
    ["status"],
  );
  const attempts = counter("step_attempts_total", "Attempts of steps, by what they came to.", [
    "type",
    "outcome",
  ]);
  const stepFailures = counter("step_failures_total", "Attempts that failed, by the code of their error.", [
    "type",
    "code",
  ]);
  const stepSeconds = histogram("step_duration_seconds", "How long the code of a step ran.", BUCKETS.step, [
    "type",
  ]);
  const poisoned = counter("jobs_poisoned_total", "Jobs given up because their executors died of them.");
  const claimed = counter("jobs_claimed_total", "Jobs taken by executors.", ["kind"]);
  const takeOvers = counter("executor_takeovers_total", "Dead executors whose jobs were taken over.", [
    "cause",
  ]);
  const jobsTaken = counter("jobs_taken_over_total", "Jobs taken over from dead executors.", ["cause"]);
  const restarts = counter("executor_restarts_total", "Executors that ended unasked and were replaced.");
  const calls = counter("connection_calls_total", "Calls of databases, models and MCP servers by steps.", [
    "kind",
    "name",
    "outcome",
  ]);
  const callSeconds = histogram(
    "connection_call_duration_seconds",
    "How long databases, models and MCP servers took.",
    BUCKETS.step,
    ["kind", "name"],
  );
  const tokens = counter("model_tokens_total", "Tokens that models were sent and gave.", [
    "model",
    "direction",
  ]);
  const stateSeconds = histogram(
    "state_duration_seconds",
    "Reading the state, waiting to write it, writing it.",
    BUCKETS.state,
    ["access"],
  );
  const busy = counter("state_busy_retries_total", "Times that a lock on the state was waited for again.");

  // What alerts and rates look at exists from the start: a first event would otherwise be no increase.
  for (const cause of ["exit", "lease"] satisfies ReclaimCause[]) {
    takeOvers.inc({ cause }, 0);
    jobsTaken.inc({ cause }, 0);
  }
  for (const kind of ["run_events", "sse", "mcp"] satisfies StreamKind[]) streams.set({ kind }, 0);
  for (const trigger of RunTrigger.options) {
    runsStarted.inc({ trigger }, 0);
    for (const status of FINAL_STATUSES) runsFinished.inc({ status, trigger }, 0);
  }
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
    tokensUsed(model, { input, output }) {
      tokens.inc({ model, direction: "input" }, input);
      tokens.inc({ model, direction: "output" }, output);
    },
    storageAccessed: (access, seconds) => stateSeconds.observe({ access }, seconds),
    storageBusy: () => busy.inc(),
  };
}
