import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { iso, MINUTE, SECOND } from "../../src/core/clock.ts";
import { wakeTimer } from "../../src/queue/wake-timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = iso(1_000_000);

function timerFor(dueInMs: number | null) {
  const start = 1_000_000;
  const wake = vi.fn<() => void>();
  const nextDueAt = (): Promise<string | null> =>
    Promise.resolve(dueInMs === null ? null : iso(start + dueInMs));
  return { wake, timer: wakeTimer({ nextDueAt }, { now: () => start }, wake) };
}

describe("the wake timer", () => {
  it("wakes when the next job is due, and at once when it is overdue", async () => {
    for (const [dueInMs, wakesAfter] of [
      [5 * SECOND, 5 * SECOND],
      [-5 * SECOND, 1],
    ] as const) {
      const { wake, timer } = timerFor(dueInMs);
      await timer.schedule(NOW);
      vi.advanceTimersByTime(wakesAfter - 1);
      expect(wake).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(wake).toHaveBeenCalledOnce();
    }
  });

  it("sleeps no longer than 30 seconds", async () => {
    const { wake, timer } = timerFor(10 * MINUTE);
    await timer.schedule(NOW);
    vi.advanceTimersByTime(30 * SECOND);
    expect(wake).toHaveBeenCalledOnce();
  });

  it("wakes once, at the last time it was set to, and not at all when no job is due any more", async () => {
    const due: (string | null)[] = [iso(1_000_000 + 2 * SECOND), iso(1_000_000 + SECOND), null];
    const wake = vi.fn<() => void>();
    const timer = wakeTimer({ nextDueAt: async () => due.shift()! }, { now: () => 1_000_000 }, wake);
    await timer.schedule(NOW);
    await timer.schedule(NOW);
    vi.advanceTimersByTime(SECOND);
    expect(wake).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(MINUTE);
    expect(wake).toHaveBeenCalledOnce();
    due.unshift(iso(1_000_000 + SECOND));
    await timer.schedule(NOW);
    await timer.schedule(NOW);
    vi.advanceTimersByTime(MINUTE);
    expect(wake).toHaveBeenCalledOnce();
  });

  it("is not set without a job that becomes due, and does not wake once it is cancelled", async () => {
    const none = timerFor(null);
    await none.timer.schedule(NOW);
    const cancelled = timerFor(SECOND);
    await cancelled.timer.schedule(NOW);
    cancelled.timer.cancel();
    vi.advanceTimersByTime(MINUTE);
    expect(none.wake).not.toHaveBeenCalled();
    expect(cancelled.wake).not.toHaveBeenCalled();
  });
});
