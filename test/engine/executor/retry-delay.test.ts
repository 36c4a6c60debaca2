import { describe, expect, it, vi, onTestFinished } from "vitest";
import { AppError } from "../../../src/core/errors.ts";
import { StepError, type StepErrorCode } from "../../../src/core/step-errors.ts";
import type { PlannedStep } from "../../../src/engine/definition/plan.ts";
import { retryDelay } from "../../../src/engine/executor/retry-delay.ts";
import { runsAgain } from "../../../src/engine/executor/runs-again.ts";

type Retry = NonNullable<PlannedStep["retry"]>;

const RETRY: Retry = {
  attempts: 4,
  initialMs: 1_000,
  maxMs: 10_000,
  backoff: "exponential",
  initial: "1s",
  max: "10s",
};
const unavailable = (code: StepErrorCode = "http_failed", retryAfterMs?: number): StepError =>
  new StepError(code, "No.", retryAfterMs === undefined ? {} : { retryAfterMs });

/** The pause after a number of retries, with the jitter at one of its ends. */
function pauses(random: number, retry: Partial<Retry> = {}, thrown: unknown = unavailable()) {
  const spy = vi.spyOn(Math, "random").mockReturnValue(random);
  onTestFinished(() => spy.mockRestore());
  return [0, 1, 2, 3].map((retryCount) =>
    retryDelay({ retry: { ...RETRY, ...retry } }, { retryCount }, thrown),
  );
}

describe("the pause before a retry", () => {
  it("doubles, up to the maximum, and jitter shortens it by up to half", () => {
    expect(pauses(1)).toEqual([1_000, 2_000, 4_000, undefined]);
    expect(pauses(0)).toEqual([500, 1_000, 2_000, undefined]);
    expect(pauses(1, { maxMs: 1_500 })).toEqual([1_000, 1_500, 1_500, undefined]);
  });

  it("stays the same with a fixed backoff", () => {
    expect(pauses(1, { backoff: "fixed" })).toEqual([1_000, 1_000, 1_000, undefined]);
  });

  it("is never shorter than what the other system asks for", () => {
    expect(pauses(1, {}, unavailable("http_failed", 3_000))).toEqual([3_000, 3_000, 4_000, undefined]);
  });
});

describe("a step", () => {
  it("is not retried without `retry`, nor after a bug", () => {
    expect(retryDelay({ retry: null }, { retryCount: 0 }, unavailable())).toBeUndefined();
    expect(pauses(1, {}, new Error("a bug"))).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("is retried after transient errors, or after those that it names", () => {
    expect(pauses(1, {}, unavailable("assert_failed"))[0]).toBeUndefined();
    expect(pauses(1, { on: ["assert_failed"] }, unavailable("assert_failed"))[0]).toBe(1_000);
    expect(pauses(1, { on: ["assert_failed"] }, unavailable("http_failed"))[0]).toBeUndefined();
  });

  it.each(["child_cancelled", "not_given"] as const)("is never retried after %s", (code) => {
    expect(pauses(1, { on: [code] }, unavailable(code))[0]).toBeUndefined();
  });
});

describe("a job", () => {
  it("runs again whenever the storage is unavailable, and ten times while the machine is too busy", () => {
    const [full, busy] = [new AppError("storage_unavailable", "Full."), unavailable("machine_busy")];
    expect([runsAgain(full, { attempt: 1 }), runsAgain(full, { attempt: 99 })]).toEqual([true, true]);
    expect([runsAgain(busy, { attempt: 9 }), runsAgain(busy, { attempt: 10 })]).toEqual([true, false]);
    expect(runsAgain(unavailable(), { attempt: 1 })).toBe(false);
  });
});
