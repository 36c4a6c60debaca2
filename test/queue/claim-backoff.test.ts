import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { claimBackoff } from "../../src/queue/claim-backoff.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const LOST = { claimed: 0, lostRace: true };

function open() {
  const wake = vi.fn<() => void>();
  const backoff = claimBackoff(wake, () => 1);
  /** How long a change takes to wake the executor, in milliseconds. */
  const delay = (): number => {
    wake.mockClear();
    backoff.wakeOnChange();
    const before = Date.now();
    if (wake.mock.calls.length === 0) vi.advanceTimersToNextTimer();
    expect(wake).toHaveBeenCalledTimes(1);
    return Date.now() - before;
  };
  return { backoff, wake, delay };
}

describe("an executor that loses the race for jobs", () => {
  it("claims later each time, up to 80 ms after a change", () => {
    const { backoff, delay } = open();
    expect(delay()).toBe(0);
    const delays = [1, 2, 3, 4, 5].map(() => {
      backoff.record(LOST);
      return delay();
    });
    expect(delays).toEqual([10, 20, 40, 80, 80]);
  });

  it.each([
    ["it has claimed a job", { claimed: 1, lostRace: true }],
    ["it found that a limit holds", { claimed: 0, lostRace: false }],
  ])("claims at once again when %s", (_, claim) => {
    const { backoff, delay } = open();
    backoff.record(LOST);
    backoff.record(claim);
    expect(delay()).toBe(0);
  });

  it("claims once after several changes, and not after it has stopped", () => {
    const { backoff, wake } = open();
    backoff.record(LOST);
    for (let change = 0; change < 3; change += 1) backoff.wakeOnChange();
    vi.runAllTimers();
    expect(wake).toHaveBeenCalledTimes(1);
    backoff.wakeOnChange();
    backoff.stop();
    vi.runAllTimers();
    expect(wake).toHaveBeenCalledTimes(1);
  });
});
