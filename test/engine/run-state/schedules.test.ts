import { describe, expect, it } from "vitest";
import type { ScheduleRecord } from "../../../src/core/run-ports.ts";
import { nextTime, nextTimes } from "../../../src/engine/run-state/schedule-times.ts";
import { TEST_ACTOR, type TestEngine, testEngine } from "../../support/engine.ts";
import { fakeClock } from "../../support/instance.ts";

const BERLIN = "Europe/Berlin";
const iso = (at: number): string => new Date(at).toISOString();
const next = (cron: string, after: string, count: number, timezone = BERLIN): string[] =>
  nextTimes({ cron, timezone }, Date.parse(after), count).map(iso);

/** Publishes a schedule, as of now. */
async function schedule(
  it_: TestEngine,
  fields: Partial<ScheduleRecord> = {},
  definition: Record<string, unknown> = {},
): Promise<string> {
  const written = { cron: "0 * * * *", timezone: "UTC", overlap: "skip" as const };
  const workflowId = await it_.define({
    steps: [{ id: "a", type: "wait", for: "30m" }],
    schedule: { ...written, ...(fields.overlap !== undefined && { overlap: fields.overlap }) },
    ...definition,
  });
  const record = { ...written, ...fields };
  await it_.transaction((tx) =>
    tx.schedules.save({
      workflowId,
      version: 1,
      paused: false,
      nextAt: nextTime(record, it_.clock.now()),
      lastAt: null,
      skipped: null,
      actor: TEST_ACTOR,
      ...record,
    }),
  );
  return workflowId;
}

/** The moments that runs were made for, in order, and where those are. */
async function made(it_: TestEngine, workflowId: string) {
  const { items } = await it_.read.runs.page({ filter: { workflowId }, after: null, limit: 100 });
  return items
    .map(({ scheduledFor, trigger, status, admitted }) => ({ scheduledFor, trigger, status, admitted }))
    .toSorted((a, b) => a.scheduledFor!.localeCompare(b.scheduledFor!));
}
const moments = async (it_: TestEngine, workflowId: string) =>
  (await made(it_, workflowId)).map((run) => run.scheduledFor);

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

  it("come at the end of the gap where the clock leaves them out", () => {
    expect(next("30 2 * * *", "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  it("count once, the first time, where the clock repeats them", () => {
    expect(next("30 2 * * *", "2026-10-24T00:00:00Z", 3)).toEqual([
      "2026-10-24T00:30:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
    // Whoever looks between the two of them finds none to come.
    expect(next("30 2 * * *", "2026-10-25T00:30:00Z", 1)).toEqual(["2026-10-26T01:30:00.000Z"]);
  });

  it("go on every half hour through both changes, without a gap and without a repetition", () => {
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
  it("fires once, however many executors look at the same time", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_);
    it_.clock.advance(2_000);
    const others = await Promise.all(
      [1, 2, 3].map(() => testEngine({ stateDir: it_.stateDir, clock: it_.clock })),
    );
    const fired = await Promise.all([it_, ...others].map((one) => one.engine.scheduler.startDueRuns()));
    expect(fired.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await made(it_, id)).toMatchObject([
      { scheduledFor: "2026-11-21T08:00:00.000Z", trigger: "schedule" },
    ]);
    expect((await it_.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T09:00:00.000Z",
      lastAt: "2026-11-21T08:00:00.000Z",
      skipped: null,
    });
  });

  it.each([
    ["left out by", "2026-03-28T23:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["repeated by", "2026-10-24T23:00:00Z", "2026-10-25T00:30:00.000Z"],
  ])("fires once for a time of day that is %s the clock", async (_what, from, moment) => {
    const it_ = await at(from);
    const id = await schedule(it_, { cron: "30 2 * * *", timezone: BERLIN });
    for (let minutes = 0; minutes < 5 * 60; minutes += 10) {
      it_.clock.advance(10 * MINUTE);
      await it_.engine.scheduler.startDueRuns();
    }
    expect(await moments(it_, id)).toEqual([moment]);
    expect((await it_.read.schedules.find(id))!.skipped).toBeNull();
  });

  it("leaves a moment out, and says so, while its last run goes on", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_, { cron: "*/10 * * * *" });
    for (let turn = 0; turn < 3; turn += 1) {
      it_.clock.advance(10 * MINUTE);
      await it_.engine.scheduler.startDueRuns();
    }
    expect(await moments(it_, id)).toEqual(["2026-11-21T08:00:00.000Z"]);
    expect((await it_.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T08:30:00.000Z",
      lastAt: "2026-11-21T08:00:00.000Z",
      skipped: { reason: "overlap", count: 1, first: "2026-11-21T08:20:00.000Z" },
    });
  });

  it("lets the next run wait for its turn where overlap is queue", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const queue = await it_.executor();
    const id = await schedule(it_, { cron: "*/10 * * * *", overlap: "queue" });
    for (let turn = 0; turn < 2; turn += 1) {
      it_.clock.advance(10 * MINUTE);
      await it_.engine.scheduler.startDueRuns();
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await made(it_, id)).toMatchObject([
      { status: "waiting", admitted: true },
      { status: "queued", admitted: false },
    ]);
    // The first wait is over after half an hour; only then the second begins.
    for (const wanted of [
      ["succeeded", "waiting"],
      ["succeeded", "succeeded"],
    ]) {
      it_.clock.advance(30 * MINUTE);
      queue.wake();
      await queue.waitUntilIdle();
      expect((await made(it_, id)).map(({ status }) => status)).toEqual(wanted);
    }
  });

  it("does not fire while it is paused", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_, { paused: true });
    it_.clock.advance(2 * HOUR);
    expect(await it_.engine.scheduler.startDueRuns()).toBe(0);
    expect(await moments(it_, id)).toEqual([]);
  });

  it("makes good what was missed with one run, for the last moment, and says which were left out", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_);
    it_.clock.advance(5 * HOUR);
    expect(await it_.engine.scheduler.startDueRuns()).toBe(1);
    expect(await it_.engine.scheduler.startDueRuns()).toBe(0);
    expect(await moments(it_, id)).toEqual(["2026-11-21T12:00:00.000Z"]);
    expect((await it_.read.schedules.find(id))!).toMatchObject({
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

  it("takes the last moment also where more were missed than are counted", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_, { cron: "* * * * *" });
    it_.clock.advance(48 * HOUR);
    await it_.engine.scheduler.startDueRuns();
    expect(await moments(it_, id)).toEqual(["2026-11-23T07:59:00.000Z"]);
    expect((await it_.read.schedules.find(id))!.skipped).toMatchObject({
      count: 999,
      first: "2026-11-21T08:00:00.000Z",
      last: "2026-11-23T07:58:00.000Z",
    });
  });

  it("gives its inputs the moment that the run is for, not the one when it was made", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const inputs = { day: "${{ run.scheduled_for }}", who: "${{ run.trigger }}" };
    const id = await schedule(
      it_,
      {},
      {
        inputs: { type: "object", properties: { day: { type: "string" }, who: { type: "string" } } },
        schedule: { cron: "0 * * * *", timezone: "UTC", overlap: "skip", inputs },
      },
    );
    it_.clock.advance(20 * MINUTE);
    await it_.engine.scheduler.startDueRuns();
    const { items } = await it_.read.runs.page({ filter: { workflowId: id }, after: null, limit: 1 });
    expect(await it_.read.runs.inputs(items[0]!.id)).toEqual({
      day: "2026-11-21T08:00:00.000Z",
      who: "schedule",
    });
  });

  it("says why where its run could not be made, and goes on with the next", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const definition = {
      inputs: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      schedule: { cron: "0 * * * *", timezone: "UTC", overlap: "skip", inputs: { n: "${{ run.trigger }}" } },
    };
    const id = await schedule(it_, {}, definition);
    it_.clock.advance(2 * HOUR);
    expect(await it_.engine.scheduler.startDueRuns()).toBe(0);
    expect((await it_.read.schedules.find(id))!).toMatchObject({
      nextAt: "2026-11-21T10:00:00.000Z",
      skipped: { reason: "failed", count: 2, first: "2026-11-21T08:00:00.000Z" },
    });
  });

  it("fires no moment twice when the clock jumps back, and none too early", async () => {
    const it_ = await at("2026-11-21T07:59:59Z");
    const id = await schedule(it_, {}, { steps: [{ id: "a", type: "set", values: { x: 1 } }] });
    const queue = await it_.executor();
    for (const jump of [1_000, -HOUR, 30 * MINUTE, 30 * MINUTE + 5_000, -2 * HOUR, 3 * HOUR]) {
      it_.clock.advance(jump);
      await it_.engine.scheduler.startDueRuns();
      queue.wake();
      await queue.waitUntilIdle();
    }
    expect(await moments(it_, id)).toEqual(["2026-11-21T08:00:00.000Z", "2026-11-21T09:00:00.000Z"]);
    expect((await it_.read.schedules.find(id))!.skipped).toBeNull();
  });
});

describe("retention", () => {
  it("clears away old runs with all that belongs to them, and keeps the young and the unfinished", async () => {
    const it_ = await testEngine();
    const queue = await it_.executor();
    const large = "x".repeat(200_000);
    const done = await it_.define({
      steps: [
        { id: "a", type: "set", values: { big: large } },
        { id: "b", type: "set", for_each: "[1, 2, 3]", values: { y: "${{ item }}" } },
        { id: "ask", type: "approval", message: "Well?", timeout: "1h", on_error: "continue" },
      ],
    });
    const waits = await it_.define({ steps: [{ id: "nap", type: "wait", for: "300d" }] });
    const end = async (advance: number): Promise<void> => {
      it_.clock.advance(advance);
      queue.wake();
      await queue.waitUntilIdle();
    };
    const [old, unfinished] = [await it_.start(done), await it_.start(waits)];
    await end(0);
    await end(HOUR);
    expect((await it_.find(old)).status).toBe("succeeded");
    const rowsOfOne = await counts(it_);
    for (const [table, count] of Object.entries(rowsOfOne))
      expect({ table, count }).not.toEqual({ table, count: 0 });
    const before = it_.now();
    it_.clock.advance(24 * HOUR);
    const young = await it_.start(done);
    await end(0);
    await end(HOUR);

    const later = iso(Date.parse(before) + HOUR);
    await forgetAll(it_, later, 1_000);
    expect(await it_.read.runs.find(old)).toBeUndefined();
    expect((await it_.find(young)).status).toBe("succeeded");
    expect((await it_.find(unfinished)).status).toBe("waiting");
    // As many rows as before the young run came: it stands where the old one stood.
    expect(await counts(it_)).toEqual(rowsOfOne);
  });

  it("is done in portions, so that nobody waits long for it", async () => {
    const it_ = await testEngine();
    const queue = await it_.executor();
    const id = await it_.define({ steps: [{ id: "a", type: "set", values: { x: 1 } }] });
    for (let n = 0; n < 5; n += 1) await it_.start(id);
    queue.wake();
    await queue.waitUntilIdle();
    it_.clock.advance(1_000);
    expect(await forgetAll(it_, it_.now(), 1)).toBeGreaterThan(0);
    expect(await it_.rows("runs")).toBe(0);
    expect(await it_.rows("run_steps")).toBe(0);
  });
});

/** Clears away what ended before a moment; gives in how many portions. */
async function forgetAll(it_: TestEngine, before: string, rows: number): Promise<number> {
  let portions = 1;
  while (await it_.transaction((tx) => tx.runs.purge(before, it_.now(), rows))) portions += 1;
  return portions;
}

const counts = async (it_: TestEngine) => ({
  runs: await it_.rows("runs"),
  run_steps: await it_.rows("run_steps"),
  run_attempts: await it_.rows("run_attempts"),
  run_values: await it_.rows("run_values"),
  fan_outs: await it_.rows("fan_outs"),
  approvals: await it_.rows("approvals"),
});
