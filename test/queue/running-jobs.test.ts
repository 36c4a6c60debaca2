import { describe, expect, it, vi } from "vitest";
import type { Job, RunStop } from "../../src/core/model.ts";
import { runningJobs } from "../../src/queue/running-jobs.ts";

const job = (id: number, runId: string, kind: Job["kind"] = "step"): Job => ({
  id,
  runId,
  subject: "ann@example.com",
  workflowId: "weekly",
  stepId: "a",
  item: null,
  kind,
  priority: 0,
  resource: null,
  attempt: 1,
  retryCount: 0,
  fence: 1,
  quarantined: false,
  crashCount: 0,
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

describe("the running jobs", () => {
  it("are those that have not ended, and each end is reported once its slot is free", async () => {
    const onEnd = vi.fn<() => void>(() => expect(running.jobs()).toEqual([]));
    const running = runningJobs(onEnd);
    const end = Promise.withResolvers<void>();
    running.add(job(1, "run_1"), () => end.promise);
    expect(running.jobs()).toMatchObject([{ id: 1 }]);
    end.resolve();
    await running.ended();
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it("abort the steps of stopped runs only", async () => {
    const running = runningJobs(() => {});
    const signals: AbortSignal[] = [];
    for (const one of [job(1, "run_1"), job(2, "run_2"), job(3, "run_1", "finish")]) {
      running.add(one, (signal) => {
        signals.push(signal);
        return untilAborted(signal);
      });
    }
    const stop: RunStop = { status: "cancelled", by: "ann" };
    await running.abortStopped({
      getStatusSummaries: () =>
        Promise.resolve([
          { id: "run_1", seq: 1, status: "running", stop },
          { id: "run_2", seq: 1, status: "running", stop: null },
        ]),
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false, false]);
    expect(signals[0]!.reason).toMatchObject({ code: "cancelled", message: "The run was cancelled." });
  });
});
