import { describe, expect, it, vi } from "vitest";
import type { Job, RunStop } from "../../src/core/model.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { type JobEnd, runningJobs } from "../../src/queue/running-jobs.ts";
import { untilPassing } from "../support/eventually.ts";
import { claimedJob } from "../support/run-records.ts";

const job = (id: number, runId: string, kind: Job["kind"] = "step") => claimedJob({ id, runId, kind });

const untilAborted = (signal: AbortSignal): Promise<JobEnd> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve("ended")));

describe("the running jobs", () => {
  it("are those that have not ended, and each end is reported once its slot is free", async () => {
    const onFree = vi.fn<() => void>(() => expect(running.jobs()).toEqual([]));
    const running = runningJobs(onFree);
    const end = Promise.withResolvers<JobEnd>();
    running.add(job(1, "run_1"), () => end.promise);
    expect(running.jobs()).toMatchObject([{ id: 1 }]);
    end.resolve("ended");
    await running.ended();
    expect(onFree).toHaveBeenCalledOnce();
  });

  it("report no end that passed its slot on, unless the place of a resource is free", async () => {
    const onFree = vi.fn<() => void>();
    const running = runningJobs(onFree);
    running.add(job(1, "run_1"), async () => "continued");
    await running.ended();
    expect(onFree).not.toHaveBeenCalled();
    running.add({ ...job(2, "run_1"), resource: "http:a" }, async () => "continued");
    await running.ended();
    expect(onFree).toHaveBeenCalledOnce();
  });

  it("differ by their claims: one may be recorded while the next one runs", async () => {
    const running = runningJobs(() => {});
    const [first, second] = [Promise.withResolvers<JobEnd>(), Promise.withResolvers<JobEnd>()];
    running.add({ ...job(1, "run_1"), fence: 1 }, () => first.promise);
    running.add({ ...job(1, "run_1"), fence: 2 }, () => second.promise);
    first.resolve("ended");
    await untilPassing(() => expect(running.has({ id: 1, fence: 1 })).toBe(false));
    expect(running.has({ id: 1, fence: 2 })).toBe(true);
    second.resolve("ended");
    await running.ended();
    expect(running.jobs()).toEqual([]);
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

  it("abort with the error that has stopped their run", async () => {
    const running = runningJobs(() => {});
    const signals: AbortSignal[] = [];
    running.add(job(1, "run_1"), (signal) => {
      signals.push(signal);
      return untilAborted(signal);
    });
    const stop: RunStop = { status: "failed", error: { code: "timeout", message: "It took too long." } };
    const asked: (readonly string[])[] = [];
    await running.abortStopped({
      getStatusSummaries: async (ids) => {
        asked.push(ids);
        return [{ id: "run_1", seq: 1, status: "running", stop }];
      },
    });
    expect(asked).toEqual([["run_1"]]);
    expect(signals[0]!.reason).toMatchObject({
      code: "cancelled",
      message: "The run was stopped: It took too long.",
    });
  });

  it("are not looked up while there are none", async () => {
    const getStatusSummaries = vi.fn<() => Promise<never[]>>(async () => []);
    await runningJobs(() => {}).abortStopped({ getStatusSummaries });
    expect(getStatusSummaries).not.toHaveBeenCalled();
  });

  it("are all aborted with the reason that is given, and have ended when each of them has", async () => {
    const running = runningJobs(() => {});
    const reason = new StepError("interrupted", "The executor was stopped.");
    const reasons: unknown[] = [];
    const last = Promise.withResolvers<void>();
    for (const id of [1, 2])
      running.add(job(id, "run_1"), async (signal) => {
        await untilAborted(signal);
        reasons.push(signal.reason);
        if (id === 2) await last.promise;
        return "ended";
      });
    running.abortAll(reason);
    const ended = vi.fn<() => void>();
    const waiting = running.ended().then(ended);
    await new Promise(setImmediate);
    expect(reasons).toEqual([reason, reason]);
    expect(running.jobs()).toMatchObject([{ id: 2 }]);
    expect(ended).not.toHaveBeenCalled();
    last.resolve();
    await waiting;
    expect(running.jobs()).toEqual([]);
  });
});
