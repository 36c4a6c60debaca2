import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { agreedClock } from "../../../src/core/agreed-clock.ts";
import { HOUR, iso, MINUTE } from "../../../src/core/clock.ts";
import { clockCheck } from "../../../src/core/clock-check.ts";
import { TEST_ACTOR, testEngine } from "../../support/engine.ts";

/** A schedule of every hour in UTC that is next due at a time, in milliseconds since 1970. */
async function saveSchedule({ define, transaction }: Awaited<ReturnType<typeof testEngine>>, nextAt: number) {
  const schedule = { cron: "0 * * * *", timezone: "UTC", overlap: "queue" as const };
  const workflowId = await define({ steps: [{ id: "a", type: "set", values: { x: 1 } }], schedule });
  await transaction((tx) =>
    tx.schedules.save({
      workflowId,
      version: 1,
      ...schedule,
      paused: false,
      nextAt: iso(nextAt),
      lastAt: null,
      skipped: null,
      actor: TEST_ACTOR,
    }),
  );
  return workflowId;
}

describe("an executor alone whose clock differs from that of the database server", () => {
  it.each([
    ["ahead", 25 * HOUR],
    ["behind", -25 * HOUR],
  ])("starts schedules and timers at the server's time: 25 hours %s", async (_case, aheadMs) => {
    const clock = Object.assign(agreedClock({ now: () => Date.now() + aheadMs }), { advance: () => {} });
    const harness = await testEngine({ clock });
    const check = clockCheck(clock, harness.store, pino({ level: "silent" }));
    const { scheduler } = harness.engine;
    // Both are wrong by the clock of the executor: that of the past is in its future, or that of the future in its past.
    const serverTime = Date.now();
    const due = await saveSchedule(harness, serverTime - 2 * MINUTE);
    const early = await saveSchedule(harness, serverTime + 3 * HOUR);
    expect(await scheduler.startDueRuns()).toBe(0);
    const queue = await harness.executor(undefined, { clockCheck: check });
    expect(await scheduler.startDueRuns()).toBe(1);
    expect(await harness.read.runs.count({ workflowId: due })).toBe(1);
    expect(await harness.read.runs.count({ workflowId: early })).toBe(0);

    const waiting = async (until: number) =>
      harness.start(await harness.define({ steps: [{ id: "a", type: "wait", until: iso(until) }] }));
    const [ended, waits] = [await waiting(serverTime - MINUTE), await waiting(serverTime + 3 * HOUR)];
    queue.wake();
    await queue.waitUntilIdle();
    expect((await harness.find(ended)).status).toBe("succeeded");
    expect((await harness.find(waits)).status).toBe("waiting");
  });
});
