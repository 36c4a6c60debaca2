import { Registry } from "prom-client";
import { describe, expect, it, vi } from "vitest";
import { openMetrics } from "../../src/telemetry/metrics.ts";
import { renderExposition, mergeExitedProcess } from "../../src/telemetry/metrics-snapshot.ts";
import { registerStateGauges, type InstanceStats } from "../../src/telemetry/state-gauges.ts";
import { parseExposition, sumSamples } from "../support/exposition.ts";
import { exercisedMetrics, readMetrics, SAMPLE_STATE } from "../support/metrics.ts";

describe("metrics", () => {
  it("have valid Prometheus names and labels, and the metered values", async () => {
    const families = await readMetrics(exercisedMetrics());
    const of = (name: string, labels = {}) => sumSamples(families, name, { ...labels, process: "serve" });
    const request = { operation: "list_workflows", surface: "rest" };
    expect(of("millrace_requests_total", { ...request, status: "200" })).toBe(1);
    expect(of("millrace_request_duration_seconds_sum", request)).toBe(0.01);
    expect(of("millrace_requests_refused_total", { surface: "rest", code: "unauthorized" })).toBe(1);
    expect(of("millrace_open_streams", { kind: "sse" })).toBe(1);
    expect(of("millrace_runs_started_total", { trigger: "rest" })).toBe(1);
    expect(of("millrace_runs_finished_total", { trigger: "rest", status: "failed" })).toBe(1);
    expect(of("millrace_run_failures_total", { code: "step_failed" })).toBe(1);
    expect(of("millrace_step_attempts_total", { type: "model", outcome: "failed" })).toBe(1);
    expect(of("millrace_step_failures_total", { type: "model", code: "timeout" })).toBe(1);
    expect(of("millrace_step_duration_seconds_sum", { type: "model" })).toBe(2);
    expect(of("millrace_jobs_taken_over_total", { cause: "lease" })).toBe(2);
    expect(of("millrace_trigger_deliveries_received_total", { result: "repeated" })).toBe(1);
    expect(of("millrace_trigger_deliveries_ended_total", { status: "filtered" })).toBe(1);
    expect(of("millrace_model_tokens_total", { model: "writer", direction: "input" })).toBe(100);
    expect(of("millrace_model_tokens_total", { model: "writer", direction: "output" })).toBe(20);
    expect(of("millrace_build_info", { version: "1.2.3" })).toBe(1);
  });

  it("start at 0 for series of alerts and rates", async () => {
    const families = await readMetrics(openMetrics("serve", "1.2.3"));
    for (const name of ["executor_takeovers", "executor_restarts", "jobs_poisoned", "runs_finished"]) {
      expect(sumSamples(families, `millrace_${name}_total`)).toBe(0);
      expect(families.get(`millrace_${name}_total`)!.samples).not.toEqual([]);
    }
  });

  it("of several processes are merged, with the kind of process as a label", async () => {
    const families = await readMetrics(
      exercisedMetrics(),
      openMetrics("worker", "1"),
      openMetrics("worker", "1"),
    );
    expect(sumSamples(families, "millrace_requests_total", { process: "serve" })).toBe(1);
    const processes = families.get("process_start_time_seconds")!.samples.map((one) => one.labels["process"]);
    expect(processes).toEqual(["serve", "worker"]);
    const [alone, both] = [await readMetrics(openMetrics("worker", "1")), families].map((one) =>
      sumSamples(one, "process_resident_memory_bytes", { process: "worker" }),
    );
    expect(both! / alone!).toBeGreaterThan(1.5);
  });

  it("keep the counters of an exited process, and not its gauges", async () => {
    const before = exercisedMetrics();
    let gone = await mergeExitedProcess([], await before.snapshot());
    gone = await mergeExitedProcess(gone, await exercisedMetrics().snapshot());
    const families = parseExposition(
      await renderExposition([await openMetrics("serve", "1").snapshot(), gone]),
    );
    expect(sumSamples(families, "millrace_requests_total")).toBe(2);
    expect(sumSamples(families, "millrace_step_duration_seconds_count")).toBe(2);
    expect(sumSamples(families, "millrace_open_streams")).toBe(0);
  });
});

const well = (): Promise<InstanceStats> => Promise.resolve(SAMPLE_STATE);

describe("gauges of the database", () => {
  it("show the numbers of the database", async () => {
    const families = await readMetrics(exercisedMetrics());
    expect(sumSamples(families, "millrace_state_up")).toBe(1);
    expect(sumSamples(families, "millrace_runs_unfinished", { status: "waiting" })).toBe(2);
    expect(sumSamples(families, "millrace_runs_unfinished", { status: "running" })).toBe(0);
    expect(sumSamples(families, "millrace_queue_jobs", { state: "later" })).toBe(4);
    expect(sumSamples(families, "millrace_queue_oldest_ready_seconds")).toBe(6.5);
    expect(sumSamples(families, "millrace_state_free_bytes")).toBe(1e9);
    expect(sumSamples(families, "millrace_state_min_free_bytes")).toBe(5e8);
  });

  it("disappear while the database can't be read, and come back", async () => {
    const now = performance.now.bind(performance);
    let ahead = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + ahead);
    const metrics = openMetrics("serve", "1");
    let answer = well;
    metrics.registerStateSource(() => answer());
    expect(sumSamples(await readMetrics(metrics), "millrace_state_up")).toBe(1);
    answer = () => Promise.reject(new Error("gone"));
    expect(sumSamples(await readMetrics(metrics), "millrace_state_up")).toBe(1);
    ahead = 6_000;
    const without = await readMetrics(metrics);
    expect(sumSamples(without, "millrace_state_up")).toBe(0);
    for (const name of ["queue_jobs", "runs_unfinished", "queue_oldest_ready_seconds", "executors"])
      expect(without.get(`millrace_${name}`)!.samples).toEqual([]);
    answer = well;
    expect(sumSamples(await readMetrics(metrics), "millrace_executors")).toBe(2);
    vi.restoreAllMocks();
  });

  it("do not wait for a database that hangs", async () => {
    const registry = new Registry();
    const readStats = vi.fn<() => Promise<InstanceStats>>(() => new Promise(() => {}));
    const refresh = registerStateGauges(registry, readStats, 10);
    for (const _ of [1, 2]) {
      await refresh();
      expect(sumSamples(parseExposition(await registry.metrics()), "millrace_state_up")).toBe(0);
    }
    // A read that hangs is not started a second time.
    expect(readStats).toHaveBeenCalledTimes(1);
  });
});
