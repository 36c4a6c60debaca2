import { describe, expect, it, vi } from "vitest";
import { quietTime, untilPassing } from "../support/eventually.ts";
import { sqliteChangeFeed } from "../../src/store/change-feed.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

/** A feed over a data version that the test sets, on timers that it advances. */
function manualFeed({ local = true } = {}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const state = { version: 1 as number | undefined, polls: 0 };
  const feed = sqliteChangeFeed({ local }, () => {
    state.polls += 1;
    if (state.version === undefined) throw new Error("database is locked");
    return state.version;
  });
  return { feed, state };
}

describe("the change feed", () => {
  it.each(JOURNAL_MODES)("calls its subscribers after a commit of another process (%s)", async (_, local) => {
    const here = await testStore({ local });
    const other = await testStore({ stateDir: here.stateDir, clock: here.clock, local });
    const feed = here.store.changes;
    const first = vi.fn<() => void>();
    const second = vi.fn<() => void>();
    feed.subscribe(first);
    feed.subscribe(second);
    await other.create();
    await untilPassing(() => expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1]));
    feed.close();
    await other.create();
    await quietTime(local ? 50 : 500);
    expect(first).toHaveBeenCalledOnce();
  });

  it("polls once for all subscribers, and not at all without one", () => {
    const { feed, state } = manualFeed();
    vi.advanceTimersByTime(1_000);
    expect(state.polls).toBe(0);
    const unsubscribe = [
      feed.subscribe(() => {}),
      feed.subscribe(() => {}),
      feed.subscribe(() => {}, { maxDelayMs: 500 }),
    ];
    state.polls = 0;
    vi.advanceTimersByTime(1_000);
    expect(state.polls).toBe(100);
    unsubscribe.forEach((end) => end());
    vi.advanceTimersByTime(1_000);
    expect(state.polls).toBe(100);
    vi.useRealTimers();
  });

  it("polls less often on a network file system, and for subscribers that allow a delay", () => {
    const { feed, state } = manualFeed({ local: false });
    const end = feed.subscribe(() => {});
    state.polls = 0;
    vi.advanceTimersByTime(1_000);
    expect(state.polls).toBe(5);
    end();
    feed.subscribe(() => {}, { maxDelayMs: 500 });
    state.polls = 0;
    vi.advanceTimersByTime(1_000);
    expect(state.polls).toBe(2);
    vi.useRealTimers();
  });

  it("calls a subscriber that allows a delay once for all changes within it", () => {
    const { feed, state } = manualFeed();
    const eager = vi.fn<() => void>();
    const lazy = vi.fn<() => void>();
    feed.subscribe(eager);
    feed.subscribe(lazy, { maxDelayMs: 500 });
    for (let change = 0; change < 10; change += 1) {
      state.version = 2 + change;
      vi.advanceTimersByTime(10);
    }
    expect([eager.mock.calls.length, lazy.mock.calls.length]).toEqual([10, 0]);
    vi.advanceTimersByTime(1_000);
    expect([eager.mock.calls.length, lazy.mock.calls.length]).toEqual([10, 1]);
    vi.useRealTimers();
  });

  it("calls a subscriber that allows a delay, whichever subscriptions begin and end meanwhile", () => {
    const { feed, state } = manualFeed({ local: false });
    const tolerant = vi.fn<() => void>();
    feed.subscribe(tolerant, { maxDelayMs: 500 });
    for (let change = 0; change < 15; change += 1) {
      state.version = 2 + change;
      const end = feed.subscribe(() => {});
      vi.advanceTimersByTime(150);
      end();
      vi.advanceTimersByTime(50);
    }
    expect(tolerant.mock.calls.length).toBeGreaterThanOrEqual(5);
    vi.useRealTimers();
  });

  it("reports a change that came while the store could not be read", () => {
    const { feed, state } = manualFeed();
    const listener = vi.fn<() => void>();
    feed.subscribe(listener);
    state.version = undefined;
    vi.advanceTimersByTime(100);
    expect(listener).not.toHaveBeenCalled();
    state.version = 2;
    vi.advanceTimersByTime(10);
    expect(listener).toHaveBeenCalledOnce();
    vi.useRealTimers();
  });
});
