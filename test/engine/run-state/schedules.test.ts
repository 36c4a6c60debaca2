import { describe, expect, it } from "vitest";
import type { ScheduleRecord } from "../../../src/core/model.ts";
import { nextTime, nextTimes } from "../../../src/engine/definition/schedule-times.ts";
import { TEST_ACTOR, type TestEngine, testEngine } from "../../support/engine.ts";
import { fakeClock } from "../../support/clock.ts";

const BERLIN = "Europe/Berlin";
const iso = (at: number): string => new Date(at).toISOString();
const next = (cron: string, after: string, count: number, timezone = BERLIN): string[] =>
  nextTimes({ cron, timezone }, Date.parse(after), count).map(iso);

/** Publishes a workflow with a schedule that starts now. */
async function schedule(
  harness: TestEngine,
  fields: Partial<ScheduleRecord> = {},
  definition: Record<string, unknown> = {},
): Promise<string> {
  const written = { cron: "0 * * * *", timezone: "UTC", overlap: "skip" as const };
  const workflowId = await harness.define({
    steps: [{ id: "a", type: "wait", for: "30m" }],
    schedule: { ...written, ...(fields.overlap !== undefined && { overlap: fields.overlap }) },
    ...definition,
  });
  const record = { ...written, ...fields };
  await harness.transaction((tx) =>
    tx.schedules.save({
      workflowId,
      version: 1,
      paused: false,
      nextAt: nextTime(record, harness.clock.now()),
      lastAt: null,
      skipped: null,
      actor: TEST_ACTOR,
      ...record,
    }),
  );
  return workflowId;
}

/** The scheduled runs of a workflow, by their times. */
async function scheduledRuns(harness: TestEngine, workflowId: string) {
  const { items } = await harness.read.runs.page({ filter: { workflowId }, after: null, limit: 100 });
  return items
    .map(({ scheduledFor, trigger, status, admitted }) => ({ scheduledFor, trigger, status, admitted }))
    .toSorted((a, b) => a.scheduledFor!.localeCompare(b.scheduledFor!));
}
const scheduledTimes = async (harness: TestEngine, workflowId: string) =>
  (await scheduledRuns(harness, workflowId)).map((run) => run.scheduledFor);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (time: string) => testEngine({ clock: fakeClock(Date.parse(time)) });

describe("the times of a schedule", () => {
  it("keep their time of day across both clock changes", () => {
    expect(next("0 8 * * *", "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T07:00:00.000Z",
      "2026-03-29T06:00:00.000Z",
      "2026-03-30T06:00:00.000Z",
    ]);
    expect(next("0 8 * * *", "2026-10-24T00:00:00Z", 3)).toEqual([
      "2026-10-24T06:00:00.000Z",
      "2026-10-25T07:00:00.000Z",
      "2026-10-26T07:00:00.000Z",
    ]);
  });

  it("come at the end of the gap when the clock leaves them out", () => {
    expect(next("30 2 * * *", "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  it("count once, the first time, when the clock repeats them", () => {
    expect(next("30 2 * * *", "2026-10-24T00:00:00Z", 3)).toEqual([
      "2026-10-24T00:30:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
    // Between the two occurrences, the second one is not a next time.
    expect(next("30 2 * * *", "2026-10-25T00:30:00Z", 1)).toEqual(["2026-10-26T01:30:00.000Z"]);
  });

  it("recur every half hour through both clock changes, without a gap or a repetition", () => {
    for (const [from, to] of [
      ["2026-03-28T22:00:00Z", "2026-03-29T04:00:00Z"],
      ["2026-10-24T22:00:00Z", "2026-10-25T04:00:00Z"],
    ] as const) {
      const found = next("*/30 * * * *", from, 12);
      const wanted = Array.from({ length: 12 }, (_, i) => iso(Date.parse(from) + (i + 1) * 30 * MINUTE));
      expect(found).toEqual(wanted);
      expect(found.at(-1)).toBe(iso(Date.parse(to)));
    }
  });
});

describe("a schedule", () => {
  it("starts one run, however many executors poll at the same time", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness);
    harness.clock.advance(2_000);
    const others = await Promise.all(
      [1, 2, 3].map(() => testEngine({ stateDir: harness.stateDir, clock: harness.clock })),
    );
    const started = await Promise.all([harness, ...others].map((one) => one.engine.scheduler.startDueRuns()));
    expect(started.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await scheduledRuns(harness, id)).toMatchObject([
      { scheduledFor: "2026-11-21T08:00:00.000Z", trigger: "schedule" },
    ]);
    expect((await harness.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T09:00:00.000Z",
      lastAt: "2026-11-21T08:00:00.000Z",
      skipped: null,
    });
  });

  it("starts a run that becomes due while an earlier poll is running", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness);
    const earlier = harness.engine.scheduler.startDueRuns();
    harness.clock.advance(2_000);
    await Promise.all([earlier, harness.engine.scheduler.startDueRuns()]);
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-21T08:00:00.000Z"]);
  });

  it.each([
    ["left out by", "2026-03-28T23:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["repeated by", "2026-10-24T23:00:00Z", "2026-10-25T00:30:00.000Z"],
  ])("starts one run for a time of day that is %s the clock", async (_what, from, time) => {
    const harness = await at(from);
    const id = await schedule(harness, { cron: "30 2 * * *", timezone: BERLIN });
    for (let minutes = 0; minutes < 5 * 60; minutes += 10) {
      harness.clock.advance(10 * MINUTE);
      await harness.engine.scheduler.startDueRuns();
    }
    expect(await scheduledTimes(harness, id)).toEqual([time]);
    expect((await harness.read.schedules.find(id))!.skipped).toBeNull();
  });

  it("starts its run in the turn of its owner, however many schedules of another owner are due before it", async () => {
    const harness = await at("2026-11-21T08:00:00Z");
    for (let index = 0; index < 30; index += 1)
      await schedule(harness, { cron: "1 * * * *", actor: { ...TEST_ACTOR, owner: "ann@x" } });
    const late = await schedule(harness, { cron: "2 * * * *", actor: { ...TEST_ACTOR, owner: "bob@x" } });
    harness.clock.advance(2 * MINUTE);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(20);
    expect(await scheduledTimes(harness, late)).toEqual(["2026-11-21T08:02:00.000Z"]);
  });

  it("skips a time, and records it, while its previous run is unfinished", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, { cron: "*/10 * * * *" });
    for (let turn = 0; turn < 3; turn += 1) {
      harness.clock.advance(10 * MINUTE);
      await harness.engine.scheduler.startDueRuns();
    }
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-21T08:00:00.000Z"]);
    expect((await harness.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T08:30:00.000Z",
      lastAt: "2026-11-21T08:00:00.000Z",
      skipped: { reason: "overlap", count: 1, first: "2026-11-21T08:20:00.000Z" },
    });
  });

  it("skips a time while there are too many unfinished runs, for a reason of its own", async () => {
    const clock = fakeClock(Date.parse("2026-11-21T07:59:59Z"));
    const harness = await testEngine({ clock, maxUnfinishedRuns: 1 });
    const id = await schedule(harness);
    await harness.start(await harness.define({ steps: [{ id: "a", type: "wait", for: "1d" }] }));
    harness.clock.advance(MINUTE);
    await harness.engine.scheduler.startDueRuns();
    expect(await scheduledTimes(harness, id)).toEqual([]);
    expect((await harness.read.schedules.find(id))!.skipped).toMatchObject({
      reason: "limit",
      message: expect.stringContaining("limits.unfinished_runs"),
    });
  });

  it("queues the next run with overlap: queue", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const queue = await harness.executor();
    const id = await schedule(harness, { cron: "*/10 * * * *", overlap: "queue" });
    for (let turn = 0; turn < 2; turn += 1) {
      harness.clock.advance(10 * MINUTE);
      await harness.engine.scheduler.startDueRuns();
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await scheduledRuns(harness, id)).toMatchObject([
      { status: "waiting", admitted: true },
      { status: "queued", admitted: false },
    ]);
    // The first run waits for half an hour; only then the second one starts.
    for (const wanted of [
      ["succeeded", "waiting"],
      ["succeeded", "succeeded"],
    ]) {
      harness.clock.advance(30 * MINUTE);
      queue.wake();
      await queue.waitUntilIdle();
      expect((await scheduledRuns(harness, id)).map(({ status }) => status)).toEqual(wanted);
    }
  });

  it("queues at most 100 runs, then skips and counts the further times until one of them starts", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(
      harness,
      { cron: "* * * * *", overlap: "queue" },
      {
        steps: [{ id: "a", type: "wait", for: "3h" }],
        schedule: { cron: "* * * * *", overlap: "queue" },
      },
    );
    for (let turn = 0; turn < 110; turn += 1) {
      harness.clock.advance(MINUTE);
      await harness.engine.scheduler.startDueRuns();
    }
    expect(await harness.read.runs.count({ workflowId: id })).toBe(101);
    expect((await harness.read.schedules.find(id))!).toMatchObject({
      lastAt: "2026-11-21T09:40:00.000Z",
      skipped: {
        reason: "overlap",
        count: 9,
        first: "2026-11-21T09:41:00.000Z",
        last: "2026-11-21T09:49:00.000Z",
        message: expect.stringContaining("100 runs of this schedule were already queued") as string,
      },
    });
    await harness.stop(
      (await harness.read.runs.page({ filter: { workflowId: id }, after: null, limit: 1 })).items[0]!.id,
    );
    for (let turn = 0; turn < 2; turn += 1) {
      harness.clock.advance(MINUTE);
      await harness.engine.scheduler.startDueRuns();
    }
    expect((await harness.read.schedules.find(id))!.skipped).toMatchObject({
      count: 1,
      first: "2026-11-21T09:51:00.000Z",
    });
  });

  it("starts no run while it is paused", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, { paused: true });
    harness.clock.advance(2 * HOUR);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(0);
    expect(await scheduledTimes(harness, id)).toEqual([]);
  });

  it("makes up for missed times with one run, for the last of them, and records the others", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness);
    harness.clock.advance(5 * HOUR);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(1);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(0);
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-21T12:00:00.000Z"]);
    expect((await harness.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T13:00:00.000Z",
      skipped: {
        reason: "missed",
        count: 4,
        first: "2026-11-21T08:00:00.000Z",
        last: "2026-11-21T11:00:00.000Z",
        message:
          "No executor was running at those times; one run, for the last missed time, makes up for them.",
      },
    });
  });

  it("uses the last time even when more were missed than are counted", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, { cron: "* * * * *" });
    harness.clock.advance(48 * HOUR);
    await harness.engine.scheduler.startDueRuns();
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-23T07:59:00.000Z"]);
    expect((await harness.read.schedules.find(id))!.skipped).toMatchObject({
      count: 999,
      first: "2026-11-21T08:00:00.000Z",
      last: "2026-11-23T07:58:00.000Z",
    });
  });

  it("evaluates its inputs with the scheduled time, not the time of the start", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const inputs = { day: "${{ run.scheduled_for }}", who: "${{ run.trigger }}" };
    const id = await schedule(
      harness,
      {},
      {
        inputs: { type: "object", properties: { day: { type: "string" }, who: { type: "string" } } },
        schedule: { cron: "0 * * * *", timezone: "UTC", overlap: "skip", inputs },
      },
    );
    harness.clock.advance(20 * MINUTE);
    await harness.engine.scheduler.startDueRuns();
    const { items } = await harness.read.runs.page({ filter: { workflowId: id }, after: null, limit: 1 });
    expect(await harness.read.runs.inputs(items[0]!.id)).toEqual({
      day: "2026-11-21T08:00:00.000Z",
      who: "schedule",
    });
  });

  it("records why its run could not be started, and continues with the next time", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      schedule: { cron: "0 * * * *", timezone: "UTC", overlap: "skip", inputs: { n: "${{ run.trigger }}" } },
    };
    const id = await schedule(harness, {}, definition);
    harness.clock.advance(2 * HOUR);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(0);
    expect((await harness.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T10:00:00.000Z",
      skipped: { reason: "failed", count: 2, first: "2026-11-21T08:00:00.000Z" },
    });
  });

  it("starts no run twice when the clock jumps back, and none too early", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, {}, { steps: [{ id: "a", type: "set", values: { x: 1 } }] });
    const queue = await harness.executor();
    for (const jump of [1_000, -HOUR, 30 * MINUTE, 30 * MINUTE + 5_000, -2 * HOUR, 3 * HOUR]) {
      harness.clock.advance(jump);
      await harness.engine.scheduler.startDueRuns();
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await scheduledTimes(harness, id)).toEqual([
      "2026-11-21T08:00:00.000Z",
      "2026-11-21T09:00:00.000Z",
    ]);
    expect((await harness.read.schedules.find(id))!.skipped).toBeNull();
  });
});

describe("a schedule that a clock that was ahead has advanced", () => {
  const DONE = { steps: [{ id: "a", type: "set", values: { x: 1 } }] };

  /** A schedule whose time of the next day was started by a clock that was 25 hours ahead, and is right again. */
  async function startedAhead(fields: Partial<ScheduleRecord> = {}) {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, fields, DONE);
    harness.clock.advance(25 * HOUR);
    await harness.engine.scheduler.startDueRuns();
    harness.clock.advance(-25 * HOUR);
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-22T08:00:00.000Z"]);
    const { scheduler } = harness.engine;
    return {
      harness,
      id,
      scheduler,
      find: async () => (await harness.read.schedules.find(id))!,
      /** Lets time pass hour by hour, as the executors see it. */
      async pass(hours: number) {
        for (let hour = 0; hour < hours; hour += 1) {
          harness.clock.advance(HOUR);
          await scheduler.correctLateSchedules();
          await scheduler.startDueRuns();
        }
      },
    };
  }

  it("starts the runs of all its times once the clock is right, none of them twice", async () => {
    const { harness, id, scheduler, find, pass } = await startedAhead({ overlap: "queue" });
    expect(await find()).toMatchObject({
      nextAt: "2026-11-22T09:00:00.000Z",
      lastAt: "2026-11-22T08:00:00.000Z",
      skipped: { last: "2026-11-22T07:00:00.000Z" },
    });
    expect(await scheduler.correctLateSchedules()).toBe(1);
    // The record of skipped times named some that have not come yet.
    expect(await find()).toMatchObject({ nextAt: "2026-11-21T08:00:00.000Z", skipped: null });
    await pass(26);
    const hours = Array.from({ length: 26 }, (_, hour) =>
      iso(Date.parse("2026-11-21T08:00:00Z") + hour * HOUR),
    );
    expect(await scheduledTimes(harness, id)).toEqual(hours);
    expect(await find()).toMatchObject({ nextAt: "2026-11-22T10:00:00.000Z", skipped: null });
  });

  it("records no overlap of a run with the time that it was started for", async () => {
    const { harness, id, scheduler, find, pass } = await startedAhead({ cron: "0 8 * * *" });
    await scheduler.correctLateSchedules();
    await pass(25);
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-22T08:00:00.000Z"]);
    expect(await find()).toMatchObject({
      nextAt: "2026-11-23T08:00:00.000Z",
      lastAt: "2026-11-22T08:00:00.000Z",
      skipped: { reason: "overlap", count: 1, last: "2026-11-21T08:00:00.000Z" },
    });
  });

  it("does not count the time that has run among those that are missed later", async () => {
    const { harness, id, scheduler, find } = await startedAhead({ overlap: "queue" });
    await scheduler.correctLateSchedules();
    harness.clock.advance(26 * HOUR + MINUTE);
    await scheduler.startDueRuns();
    expect(await scheduledTimes(harness, id)).toEqual([
      "2026-11-22T08:00:00.000Z",
      "2026-11-22T10:00:00.000Z",
    ]);
    // 08:00 to 09:00 of the next day are 26 times.
    expect((await find()).skipped).toMatchObject({ reason: "missed", count: 25 });
  });

  it("keeps the record of the times that stay skipped", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const id = await schedule(harness, {}, DONE);
    harness.clock.advance(25 * HOUR);
    await harness.engine.scheduler.startDueRuns();
    harness.clock.advance(-22 * HOUR);
    await harness.engine.scheduler.correctLateSchedules();
    expect(await harness.read.schedules.find(id)).toMatchObject({
      nextAt: "2026-11-21T11:00:00.000Z",
      skipped: { count: 3, first: "2026-11-21T08:00:00.000Z", last: "2026-11-21T10:00:00.000Z" },
    });
  });

  it("shows the next times from now on, and resumes at them", async () => {
    const { harness, find } = await startedAhead();
    const { schedulePolicy } = harness.engine;
    expect(schedulePolicy.nextTimes(await find(), harness.clock.now(), 1).map(iso)).toEqual([
      "2026-11-21T08:00:00.000Z",
    ]);
  });

  it("is corrected within a minute, by an executor whose clock agrees", async () => {
    const agreed = { value: true };
    const clock = Object.assign(fakeClock(Date.parse("2026-11-21T07:58:00Z")), {
      isAgreed: () => agreed.value,
    });
    const harness = await testEngine({ clock });
    const { scheduler } = harness.engine;
    expect(await scheduler.correctLateSchedules()).toBe(0);
    const id = await schedule(harness, { nextAt: "2026-11-22T09:00:00.000Z" });
    expect(await scheduler.correctLateSchedules()).toBe(0);
    clock.advance(MINUTE);
    agreed.value = false;
    expect(await scheduler.correctLateSchedules()).toBe(0);
    agreed.value = true;
    expect(await scheduler.correctLateSchedules()).toBe(1);
    expect((await harness.read.schedules.find(id))!.nextAt).toBe("2026-11-21T08:00:00.000Z");
  });

  it("is corrected at once when the clock is set back that has found it right before", async () => {
    const harness = await at("2026-11-22T08:30:00Z");
    const { scheduler } = harness.engine;
    const id = await schedule(harness);
    expect(await scheduler.correctLateSchedules()).toBe(0);
    harness.clock.advance(-25 * HOUR);
    expect(await scheduler.correctLateSchedules()).toBe(1);
    expect((await harness.read.schedules.find(id))!.nextAt).toBe("2026-11-21T08:00:00.000Z");
  });

  it("is one of many, each of which is corrected", async () => {
    const harness = await at("2026-11-21T07:59:59Z");
    const ids: string[] = [];
    for (let n = 0; n < 51; n += 1) ids.push(await schedule(harness, { nextAt: "2026-11-22T09:00:00.000Z" }));
    const paused = await schedule(harness, { nextAt: "2026-11-22T09:00:00.000Z", paused: true });
    expect(await harness.engine.scheduler.correctLateSchedules()).toBe(51);
    const { items } = await harness.read.schedules.page({ after: null, limit: 100 });
    expect(
      new Set(items.filter(({ workflowId }) => ids.includes(workflowId)).map(({ nextAt }) => nextAt)),
    ).toEqual(new Set(["2026-11-21T08:00:00.000Z"]));
    expect((await harness.read.schedules.find(paused))!.nextAt).toBe("2026-11-22T09:00:00.000Z");
  });
});

describe("a schedule that is on time", () => {
  it.each([
    [
      "that another executor has started up to a minute early",
      { cron: "* * * * *", nextAt: "2026-11-21T08:01:00.000Z" },
    ],
    ["that comes next year", { cron: "0 0 1 1 *", nextAt: "2027-01-01T00:00:00.000Z" }],
    ["that has no time before it", { cron: "0 9 * * *", nextAt: "2026-11-21T09:00:00.000Z" }],
  ])("is not corrected: %s", async (_case, fields) => {
    const harness = await at("2026-11-21T07:59:30Z");
    const id = await schedule(harness, fields);
    expect(await harness.engine.scheduler.correctLateSchedules()).toBe(0);
    expect((await harness.read.schedules.find(id))!.nextAt).toBe(fields.nextAt);
  });
});

describe("retention", () => {
  it("purges old runs with all their rows, and keeps recent and unfinished ones", async () => {
    const harness = await testEngine();
    const queue = await harness.executor();
    const large = "x".repeat(200_000);
    const done = await harness.define({
      steps: [
        { id: "a", type: "set", values: { big: large } },
        { id: "b", type: "set", for_each: "[1, 2, 3]", values: { y: "${{ item }}" } },
        { id: "ask", type: "approval", message: "Well?", timeout: "1h", on_error: "continue" },
      ],
    });
    const waits = await harness.define({ steps: [{ id: "nap", type: "wait", for: "300d" }] });
    const end = async (advance: number): Promise<void> => {
      harness.clock.advance(advance);
      queue.wake();
      await queue.waitUntilIdle();
    };
    const [old, unfinished] = [await harness.start(done), await harness.start(waits)];
    await end(0);
    await end(HOUR);
    expect((await harness.find(old)).status).toBe("succeeded");
    const rowsOfOne = await counts(harness);
    for (const [table, count] of Object.entries(rowsOfOne))
      expect({ table, count }).not.toEqual({ table, count: 0 });
    const before = harness.now();
    harness.clock.advance(24 * HOUR);
    const recent = await harness.start(done);
    await end(0);
    await end(HOUR);

    const later = iso(Date.parse(before) + HOUR);
    await purgeAll(harness, later, 1_000);
    expect(await harness.read.runs.find(old)).toBeUndefined();
    expect((await harness.find(recent)).status).toBe("succeeded");
    expect((await harness.find(unfinished)).status).toBe("waiting");
    // The recent run has as many rows as the old one had.
    expect(await counts(harness)).toEqual(rowsOfOne);
  });

  it("purges in batches, so that other writers do not wait long", async () => {
    const harness = await testEngine();
    const queue = await harness.executor();
    const id = await harness.define({ steps: [{ id: "a", type: "set", values: { x: 1 } }] });
    for (let n = 0; n < 5; n += 1) await harness.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    harness.clock.advance(1_000);
    expect(await purgeAll(harness, harness.now(), 1)).toBeGreaterThan(0);
    expect(await harness.rows("runs")).toBe(0);
    expect(await harness.rows("run_steps")).toBe(0);
  });
});

/** Purges the runs that ended before a time. @returns the number of batches */
async function purgeAll(harness: TestEngine, before: string, rows: number): Promise<number> {
  let batches = 1;
  while (await harness.transaction((tx) => tx.runs.purge(before, harness.now(), rows))) batches += 1;
  return batches;
}

const counts = async (harness: TestEngine) => ({
  runs: await harness.rows("runs"),
  run_steps: await harness.rows("run_steps"),
  run_attempts: await harness.rows("run_attempts"),
  run_values: await harness.rows("run_values"),
  fan_outs: await harness.rows("fan_outs"),
  approvals: await harness.rows("approvals"),
});

describe("an executor whose clock differs from that of the others", () => {
  it("leaves the schedules to them", async () => {
    const agreed = { value: false };
    const clock = Object.assign(fakeClock(Date.parse("2026-11-21T07:30:00Z")), {
      isAgreed: () => agreed.value,
    });
    const harness = await testEngine({ clock });
    const id = await schedule(harness);
    clock.advance(HOUR);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(0);
    expect(await scheduledTimes(harness, id)).toEqual([]);
    agreed.value = true;
    expect(await harness.engine.scheduler.startDueRuns()).toBe(1);
    expect(await scheduledTimes(harness, id)).toEqual(["2026-11-21T08:00:00.000Z"]);
  });
});
