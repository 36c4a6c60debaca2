import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { JobWriter } from "../../src/core/job-ports.ts";
import type { Job } from "../../src/core/model.ts";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import { type JobRunnerOptions, jobRunner } from "../../src/queue/run-job.ts";
import type { JobHandler, JobResult } from "../../src/queue/types.ts";

const JOB: Job = {
  id: 1,
  runId: "run_1",
  subject: "ann@example.com",
  workflowId: "weekly",
  stepId: "a",
  item: null,
  kind: "step",
  priority: 0,
  resource: null,
  attempt: 3,
  retryCount: 1,
  fence: 1,
  quarantined: false,
  crashCount: 0,
};
const NOW = Date.parse("2026-11-21T08:00:00.000Z");
const unavailable = () => new AppError("storage_unavailable", "The disk is full.");

type Change = JobResult["change"];
const noChange: Change = () => Promise.resolve();
const complete = (change: Change = noChange): JobResult => ({ kind: "complete", change });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A runner of `handler` on a queue that does what the test says. */
function open(handler: JobHandler, overrides: Partial<JobRunnerOptions> = {}) {
  const jobs = {
    lockClaim: vi.fn<JobWriter["lockClaim"]>().mockResolvedValue(true),
    complete: vi.fn<JobWriter["complete"]>().mockResolvedValue(true),
    release: vi.fn<JobWriter["release"]>().mockResolvedValue(true),
  };
  const tx = { jobs } as unknown as EngineWriters;
  const mocks = {
    interruptAttempts: vi.fn<JobRunnerOptions["interruptAttempts"]>().mockResolvedValue(undefined),
    onUnexpectedError: vi.fn<JobRunnerOptions["onUnexpectedError"]>().mockResolvedValue(complete()),
    onChanged: vi.fn<JobRunnerOptions["onChanged"]>(),
    health: { reportFailure: vi.fn<(thrown: unknown, message: string) => void>(), reportRecovery: () => {} },
  };
  const messages: string[] = [];
  const run = jobRunner({
    executor: "exe_1",
    handler,
    commit: (change) => change(tx),
    isStopping: () => false,
    clock: { now: () => NOW },
    log: pino({ base: null }, { write: (line) => void messages.push(JSON.parse(line).msg) }),
    ...mocks,
    ...overrides,
  });
  return { run: () => run(JOB, new AbortController().signal), jobs, tx, messages, ...mocks };
}

/** What a job is released with when its handler could not use the store, or its result could not be recorded. */
const released = (ms: number) =>
  expect.objectContaining({
    kind: "retry",
    dueAt: new Date(NOW + ms).toISOString(),
    attempt: 4,
    retryCount: 1,
  });

describe("running a job", () => {
  it("ends the claim and writes the change in one transaction, then reports the changed run", async () => {
    const change = vi.fn<Change>().mockResolvedValue(undefined);
    const { run, jobs, tx, onChanged, messages } = open(async () => complete(change));
    await run();
    expect(jobs.complete).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1");
    expect(change).toHaveBeenCalledExactlyOnceWith(tx);
    expect(jobs.complete.mock.invocationCallOrder[0]).toBeLessThan(change.mock.invocationCallOrder[0]!);
    expect(onChanged).toHaveBeenCalledExactlyOnceWith(["run_1"]);
    expect(messages).toEqual([]);
  });

  it("releases the job when the handler asks for a retry", async () => {
    const retry: JobResult = { kind: "retry", dueAt: null, attempt: 4, retryCount: 2, change: noChange };
    const { run, jobs } = open(async () => retry);
    await run();
    expect(jobs.release).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1", retry);
    expect(jobs.complete).not.toHaveBeenCalled();
  });

  it("writes nothing when the claim was lost", async () => {
    const change = vi.fn<Change>();
    const { run, jobs, messages } = open(async () => complete(change));
    jobs.complete.mockResolvedValue(false);
    await run();
    expect(change).not.toHaveBeenCalled();
    expect(messages).toEqual(["claim lost, result discarded"]);
  });
});

describe("a change that a handler records", () => {
  it.each([true, false])("is written only while the claim holds: %s", async (claimed) => {
    const change = vi.fn<Change>().mockResolvedValue(undefined);
    const { run, jobs, onChanged } = open(async (_, { record }) => {
      expect(await record(change)).toBe(claimed);
      expect(onChanged).toHaveBeenCalledTimes(claimed ? 1 : 0);
      return complete();
    });
    jobs.lockClaim.mockResolvedValue(claimed);
    await run();
    expect(jobs.lockClaim).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1");
    expect(change).toHaveBeenCalledTimes(claimed ? 1 : 0);
    expect(jobs.complete).toHaveBeenCalledOnce();
  });
});

describe("an unexpected error", () => {
  it("of the handler is recorded as `onUnexpectedError` says, and logged", async () => {
    const bug = new Error("a bug");
    const { run, jobs, onUnexpectedError, onChanged, messages } = open(() => Promise.reject(bug));
    await run();
    expect(onUnexpectedError).toHaveBeenCalledExactlyOnceWith(JOB, bug);
    expect(jobs.complete).toHaveBeenCalledOnce();
    expect(onChanged).toHaveBeenCalledExactlyOnceWith(["run_1"]);
    expect(messages).toEqual(["unexpected job error"]);
  });

  it("of the change is recorded in the same way", async () => {
    const bug = new Error("a bug");
    const { run, jobs, onUnexpectedError } = open(async () => complete(() => Promise.reject(bug)));
    await run();
    expect(onUnexpectedError).toHaveBeenCalledExactlyOnceWith(JOB, bug);
    expect(jobs.complete).toHaveBeenCalledTimes(2);
  });

  it("that can't be recorded releases the job", async () => {
    const { run, jobs, onUnexpectedError, messages } = open(() => Promise.reject(new Error("a bug")));
    onUnexpectedError.mockRejectedValue(new Error("another bug"));
    await run();
    expect(jobs.release).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1", released(SECOND));
    expect(messages).toEqual([
      "unexpected job error",
      "unexpected job error not recorded, releasing the job",
    ]);
  });
});

describe("a store that is unavailable", () => {
  it("to the handler releases the job for 5 s, as the next attempt but not as a retry", async () => {
    const { run, jobs, tx, onUnexpectedError, interruptAttempts } = open(() => Promise.reject(unavailable()));
    await run();
    expect(jobs.release).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1", released(5 * SECOND));
    expect(interruptAttempts).toHaveBeenCalledExactlyOnceWith(tx, "exe_1", JOB);
    expect(onUnexpectedError).not.toHaveBeenCalled();
  });

  it("to the result releases the job, however long that takes", async () => {
    const { run, jobs, onUnexpectedError, health } = open(async () => complete());
    jobs.complete.mockRejectedValue(unavailable());
    for (let i = 0; i < 4; i += 1) jobs.release.mockRejectedValueOnce(unavailable());
    const ended = vi.fn<() => void>();
    const running = run().then(ended);
    // The pauses between the attempts are 1, 2, 2 and 2 s.
    await vi.advanceTimersByTimeAsync(7 * SECOND - 1);
    expect(jobs.release).toHaveBeenCalledTimes(4);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(jobs.release).toHaveBeenCalledTimes(5);
    expect(health.reportFailure).toHaveBeenCalledTimes(4);
    expect(onUnexpectedError).not.toHaveBeenCalled();
  });

  it("keeps no job of an executor that stops", async () => {
    const { run, jobs } = open(async () => complete(), { isStopping: () => true });
    jobs.complete.mockRejectedValue(unavailable());
    await run();
    expect(jobs.release).not.toHaveBeenCalled();
  });
});
