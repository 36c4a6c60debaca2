import { describe, expect, it } from "vitest";
import { startPoll } from "../../src/app/poll-starts.ts";

/** What a starter does, and whether its last call found something that runs. */
function fakeStarter() {
  const starter = { calls: 0, active: false, failure: undefined as Error | undefined, meanwhile: () => {} };
  const work = async (): Promise<number> => {
    starter.calls += 1;
    starter.meanwhile();
    if (starter.failure !== undefined) throw starter.failure;
    return 0;
  };
  return { starter, work, isActive: () => starter.active };
}

const none = async () => 0;

function open() {
  const [backfiller, backtester, bulkRunner] = [fakeStarter(), fakeStarter(), fakeStarter()];
  const polls: { work(): Promise<unknown>; onError(error: unknown): void }[] = [];
  const listeners: (() => void)[] = [];
  const failures: unknown[] = [];
  const starts = startPoll({
    handlers: {
      scheduler: { startDueRuns: none, correctLateSchedules: async () => {} },
      backfiller: { startRuns: backfiller.work, isActive: backfiller.isActive },
      backtester: { startRuns: backtester.work, isActive: backtester.isActive },
      bulkRunner: { continueActions: bulkRunner.work, isActive: bulkRunner.isActive },
      triggerDeliveries: { startReceived: none, stop: () => {} },
    } as never,
    changes: { subscribe: (listener) => (listeners.push(listener), () => {}) },
    wake: () => {},
    health: { reportFailure: (error) => void failures.push(error) },
    repeat: (repetition) => (polls.push(repetition), () => {}),
  });
  starts.start();
  return {
    starters: { backfiller, backtester, bulkRunner },
    failures,
    async poll(): Promise<void> {
      for (const { work, onError } of polls) await work().catch(onError);
    },
    commit: () => listeners.forEach((listener) => listener()),
  };
}

describe("the poll of what only commits begin", () => {
  it.each(["backfiller", "backtester", "bulkRunner"] as const)(
    "asks once after each commit, and while some of it runs (%s)",
    async (name) => {
      const { starters, poll, commit } = open();
      const { starter } = starters[name];
      await poll();
      await poll();
      expect(starter.calls).toBe(1);
      commit();
      commit();
      await poll();
      await poll();
      expect(starter.calls).toBe(2);
      starter.active = true;
      await poll();
      await poll();
      expect(starter.calls).toBe(4);
    },
  );

  it("asks again after a failure", async () => {
    const { starters, failures, poll } = open();
    const { starter } = starters.backfiller;
    starter.failure = new Error("The disk is full.");
    await poll();
    await poll();
    expect(starter.calls).toBe(2);
    expect(failures).toHaveLength(2);
    starter.failure = undefined;
    await poll();
    await poll();
    expect(starter.calls).toBe(3);
  });

  it("asks again after a commit that came while it asked", async () => {
    const { starters, poll, commit } = open();
    const { starter } = starters.backtester;
    starter.meanwhile = commit;
    await poll();
    starter.meanwhile = () => {};
    await poll();
    await poll();
    expect(starter.calls).toBe(2);
  });
});
