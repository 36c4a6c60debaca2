import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import type { JobWriter } from "../../src/core/job-ports.ts";
import type { Job } from "../../src/core/model.ts";
import type { EngineWriters } from "../../src/core/run-ports.ts";
import { type JobRunnerOptions, jobRunner } from "../../src/queue/run-job.ts";
import type { DeferredResult, JobHandler, JobResult } from "../../src/queue/types.ts";
import { StepError } from "../../src/core/step-errors.ts";
import { claimedJob } from "../support/run-records.ts";

const JOB = claimedJob({ attempt: 3, retryCount: 1 });
const NOW = Date.parse("2026-11-21T08:00:00.000Z");
const unavailable = () => new AppError("storage_unavailable", "The disk is full.");

type Change = (tx: EngineWriters) => Promise<void>;
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
    claimSuccessor: vi.fn<JobWriter["claimSuccessor"]>().mockResolvedValue(undefined),
    readyLeft: vi.fn<JobWriter["readyLeft"]>().mockReturnValue(0),
  };
  const tx = { jobs } as unknown as EngineWriters;
  const mocks = {
    interruptAttempts: vi.fn<JobRunnerOptions["interruptAttempts"]>().mockResolvedValue(undefined),
    onUnexpectedError: vi.fn<JobRunnerOptions["onUnexpectedError"]>().mockResolvedValue(complete()),
    onChanged: vi.fn<JobRunnerOptions["onChanged"]>(),
    onSuccessor: vi.fn<JobRunnerOptions["onSuccessor"]>(),
    health: { reportFailure: vi.fn<(thrown: unknown, message: string) => void>(), reportRecovery: () => {} },
  };
  const messages: string[] = [];
  const lines: Record<string, unknown>[] = [];
  /** The sizes of the commits, in bytes. */
  const sizes: (number | undefined)[] = [];
  const log = (line: string): void => {
    lines.push(JSON.parse(line));
    messages.push(JSON.parse(line).msg);
  };
  const run = jobRunner({
    executor: "exe_1",
    handler,
    commit: (change, { size } = {}) => {
      sizes.push(size);
      return change(tx);
    },
    claiming: (work) => work(),
    isStopping: () => false,
    clock: { now: () => NOW },
    log: pino({ base: null }, { write: log }),
    ...mocks,
    ...overrides,
  });
  const start = (job: Partial<Job> = {}, claimedAt = performance.now()) =>
    run({ ...JOB, ...job }, new AbortController().signal, claimedAt);
  return { run: start, jobs, tx, messages, lines, sizes, ...mocks };
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

describe("the next job of the run", () => {
  const NEXT: Job = { ...JOB, id: 2, stepId: "b" };

  it("is claimed with the end of the job, and keeps the time of the first claim", async () => {
    const { run, jobs, onSuccessor, onChanged } = open(async () => complete());
    jobs.claimSuccessor.mockResolvedValue(NEXT);
    const claimedAt = performance.now() - 49;
    await run({}, claimedAt);
    expect(jobs.claimSuccessor).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1");
    expect(jobs.complete.mock.invocationCallOrder[0]).toBeLessThan(
      jobs.claimSuccessor.mock.invocationCallOrder[0]!,
    );
    expect(onSuccessor).toHaveBeenCalledExactlyOnceWith(NEXT, claimedAt);
    expect(onChanged).not.toHaveBeenCalled();
  });

  it.each<[string, JobResult, Partial<Job>, number, boolean]>([
    ["50 ms after the first claim", complete(), {}, 50, false],
    ["after an item of a fan-out", complete(), { item: 0 }, 0, false],
    ["after a quarantined job", complete(), { quarantined: true }, 0, false],
    ["while the executor stops", complete(), {}, 0, true],
    [
      "when the job runs again",
      { kind: "retry", dueAt: null, attempt: 4, retryCount: 2, change: noChange },
      {},
      0,
      false,
    ],
  ])("is left to the queue %s", async (_, result, job, age, stopping) => {
    const { run, jobs, onSuccessor } = open(async () => result, { isStopping: () => stopping });
    await run(job, performance.now() - age);
    expect(jobs.claimSuccessor).not.toHaveBeenCalled();
    expect(onSuccessor).not.toHaveBeenCalled();
  });

  it("is not looked for when the run has ended", async () => {
    const { run, jobs, onChanged } = open(async () => ({
      kind: "complete",
      change: async () => ({ ended: true }),
    }));
    await run();
    expect(jobs.claimSuccessor).not.toHaveBeenCalled();
    expect(onChanged).toHaveBeenCalledExactlyOnceWith(["run_1"]);
  });

  it("is not claimed when the claim of the job was lost", async () => {
    const { run, jobs } = open(async () => complete());
    jobs.complete.mockResolvedValue(false);
    await run();
    expect(jobs.claimSuccessor).not.toHaveBeenCalled();
  });
});

const deferred = (decide: DeferredResult["decide"]): DeferredResult => ({ kind: "deferred", decide });

describe("a result that is decided by what its transaction finds", () => {
  it("is decided while the claim is held, and recorded in the same transaction", async () => {
    const change = vi.fn<Change>().mockResolvedValue(undefined);
    const decide = vi.fn<DeferredResult["decide"]>().mockResolvedValue(complete(change));
    const { run, jobs, tx, messages } = open(async () => deferred(decide));
    await run();
    expect(jobs.lockClaim).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1");
    expect(decide).toHaveBeenCalledExactlyOnceWith(tx);
    expect(jobs.complete).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1");
    expect(change).toHaveBeenCalledExactlyOnceWith(tx);
    expect(messages).toEqual([]);
  });

  it("is not decided when the claim was lost", async () => {
    const decide = vi.fn<DeferredResult["decide"]>();
    const { run, jobs, messages } = open(async () => deferred(decide));
    jobs.lockClaim.mockResolvedValue(false);
    await run();
    expect(decide).not.toHaveBeenCalled();
    expect(jobs.complete).not.toHaveBeenCalled();
    expect(messages).toEqual(["claim lost, result discarded"]);
  });
});

describe("the size of a change", () => {
  it("is passed on to the commit, so that large changes do not delay small ones", async () => {
    const { run, sizes } = open(async (_, { record }) => {
      await record(noChange, 300_000);
      return { kind: "complete", size: 200_000, change: noChange };
    });
    await run();
    expect(sizes).toEqual([300_000, 200_000]);
  });
});

describe("the log", () => {
  it("names the run, the step, the item, the kind and the attempt of a job", async () => {
    const fields = { run_id: "run_1", step_id: "a", job: "step", attempt: 3 };
    const lost = open(async () => complete());
    lost.jobs.complete.mockResolvedValue(false);
    await lost.run();
    expect(lost.lines).toMatchObject([{ level: 40, ...fields }]);
    const broken = open(() => Promise.reject(new Error("a bug")));
    broken.onUnexpectedError.mockRejectedValue(new Error("another bug"));
    await broken.run();
    expect(broken.lines).toMatchObject([
      { level: 50, err: { message: "a bug" }, ...fields },
      { level: 50, err: { message: "another bug" }, ...fields },
    ]);
    const full = { level: 40, err: { message: "The disk is full." }, ...fields };
    const unread = open(() => Promise.reject(unavailable()));
    await unread.run();
    expect(unread.lines).toMatchObject([full]);
    const unwritten = open(async () => complete());
    unwritten.jobs.complete.mockRejectedValueOnce(unavailable());
    const running = unwritten.run();
    await vi.advanceTimersByTimeAsync(SECOND);
    await running;
    expect(unwritten.lines).toMatchObject([full]);
  });
});

describe("a change that a handler records", () => {
  it.each([true, false])("is written only while the claim holds: %s", async (claimed) => {
    const change = vi.fn<Change>().mockResolvedValue(undefined);
    // What the handler throws would be recorded as a bug of the step, so it asserts nothing itself.
    const seen: unknown[] = [];
    const { run, jobs, onChanged } = open(async (_, { record }) => {
      seen.push(await record(change), [...onChanged.mock.calls]);
      return complete();
    });
    jobs.lockClaim.mockResolvedValue(claimed);
    await run();
    expect(seen).toEqual([claimed, claimed ? [[["run_1"]]] : []]);
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

describe("a machine that is too busy", () => {
  it("releases the job for 5 s, and says why", async () => {
    const { run, jobs, messages, onUnexpectedError } = open(() =>
      Promise.reject(new StepError("machine_busy", "No processor time.")),
    );
    await run();
    expect(jobs.release).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1", released(5 * SECOND));
    expect(messages).toEqual(["machine busy, releasing the job"]);
    expect(onUnexpectedError).not.toHaveBeenCalled();
  });
});

describe("a store that is unavailable", () => {
  it("to the handler is logged", async () => {
    const { run, messages } = open(() => Promise.reject(unavailable()));
    await run();
    expect(messages).toEqual(["store unavailable, releasing the job"]);
  });

  it("to the handler releases the job for 5 s, as the next attempt but not as a retry", async () => {
    const { run, jobs, tx, onUnexpectedError, interruptAttempts } = open(() => Promise.reject(unavailable()));
    await run();
    expect(jobs.release).toHaveBeenCalledExactlyOnceWith(JOB, "exe_1", released(5 * SECOND));
    expect(interruptAttempts).toHaveBeenCalledExactlyOnceWith(tx, "exe_1", JOB);
    expect(onUnexpectedError).not.toHaveBeenCalled();
  });

  it("to the result is waited for, and the result recorded then, so that the step does not run again", async () => {
    const handler = vi.fn<JobHandler>(async () => complete());
    const { run, jobs, onChanged, messages, onUnexpectedError } = open(handler);
    for (let i = 0; i < 4; i += 1) jobs.complete.mockRejectedValueOnce(unavailable());
    const ended = vi.fn<() => void>();
    const running = run().then(ended);
    // The pauses between the attempts are 1, 2, 2 and 2 s.
    await vi.advanceTimersByTimeAsync(7 * SECOND - 1);
    expect(jobs.complete).toHaveBeenCalledTimes(4);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await running;
    expect(jobs.complete).toHaveBeenCalledTimes(5);
    expect(onChanged).toHaveBeenCalledExactlyOnceWith(["run_1"]);
    expect(jobs.release).not.toHaveBeenCalled();
    expect(handler).toHaveBeenCalledOnce();
    expect(onUnexpectedError).not.toHaveBeenCalled();
    expect(messages).toEqual(["result not recorded, trying again"]);
  });

  it("to the result for two minutes releases the job, however long that takes", async () => {
    const { run, jobs, onUnexpectedError, messages } = open(async () => complete());
    jobs.complete.mockRejectedValue(unavailable());
    for (let i = 0; i < 4; i += 1) jobs.release.mockRejectedValueOnce(unavailable());
    const running = run();
    await vi.advanceTimersByTimeAsync(119 * SECOND);
    expect(messages).toEqual(["result not recorded, trying again"]);
    expect(jobs.release).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    await running;
    expect(messages.slice(1)).toEqual(["result not recorded, releasing the job"]);
    expect(jobs.release).toHaveBeenCalledTimes(5);
    expect(onUnexpectedError).not.toHaveBeenCalled();
  });

  it("keeps no job of an executor that stops", async () => {
    const { run, jobs } = open(async () => complete(), { isStopping: () => true });
    jobs.complete.mockRejectedValue(unavailable());
    await run();
    expect(jobs.release).not.toHaveBeenCalled();
  });
});
