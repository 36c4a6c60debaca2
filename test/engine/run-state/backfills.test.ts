import { describe, expect, it } from "vitest";
import type { BackfillRecord } from "../../../src/core/backfill-ports.ts";
import { BACKFILL_PRIORITY } from "../../../src/core/model.ts";
import { TEST_ACTOR, type TestEngine, testEngine } from "../../support/engine.ts";
import { fakeClock } from "../../support/clock.ts";

const NOW = "2026-11-21T07:30:00.000Z";
const open = (options: Parameters<typeof testEngine>[0] = {}) =>
  testEngine({ clock: fakeClock(Date.parse(NOW)), ...options });

const HOURLY = { cron: "0 * * * *", timezone: "UTC", overlap: "skip" as const };

/** Publishes a workflow that runs every hour and waits in each run. */
async function publish(harness: TestEngine, definition: Record<string, unknown> = {}): Promise<string> {
  const workflowId = await harness.define({
    inputs: { type: "object", properties: { at: { type: "string" } } },
    steps: [{ id: "a", type: "wait", for: "30m" }],
    schedule: { ...HOURLY, inputs: { at: "${{ run.scheduled_for }}" } },
    ...definition,
  });
  await harness.transaction((tx) =>
    tx.schedules.save({
      workflowId,
      version: 1,
      ...HOURLY,
      paused: false,
      nextAt: "2026-11-21T08:00:00.000Z",
      lastAt: null,
      skipped: null,
      actor: TEST_ACTOR,
    }),
  );
  return workflowId;
}

/** Inserts a backfill of the hours from 01:00 on. */
async function insert(
  harness: TestEngine,
  workflowId: string,
  fields: Partial<BackfillRecord> = {},
): Promise<string> {
  const total = fields.total ?? 4;
  const backfill: BackfillRecord = {
    id: `bf_${Math.random().toString(36).slice(2)}`,
    workflowId,
    project: "default",
    version: 1,
    cron: HOURLY.cron,
    timezone: HOURLY.timezone,
    from: "2026-11-21T01:00:00.000Z",
    to: `2026-11-21T0${total}:59:00.000Z`,
    concurrency: 2,
    existing: "skip",
    status: "running",
    nextAt: "2026-11-21T01:00:00.000Z",
    total,
    started: 0,
    skipped: 0,
    reason: null,
    message: null,
    actor: TEST_ACTOR,
    keyLimits: null,
    createdAt: harness.now(),
    finishedAt: null,
    cancelledBy: null,
    ...fields,
  };
  await harness.transaction((tx) => tx.backfills.insert(backfill));
  return backfill.id;
}

const at = (hour: number): string => `2026-11-21T0${hour}:00:00.000Z`;

/** The runs of a workflow, by their scheduled times. */
async function runsOf(harness: TestEngine, workflowId: string) {
  const { items } = await harness.read.runs.page({ filter: { workflowId }, after: null, limit: 100 });
  return items.toSorted((a, b) => (a.scheduledFor ?? "").localeCompare(b.scheduledFor ?? ""));
}
const timesOf = async (harness: TestEngine, workflowId: string) =>
  (await runsOf(harness, workflowId)).map((run) => run.scheduledFor);

const find = async (harness: TestEngine, id: string) => (await harness.read.backfills.find(id))!;

/** Continues a backfill, each time after the runs so far have ended, until it has ended. */
async function runToEnd(harness: TestEngine, id: string): Promise<BackfillRecord> {
  const queue = await harness.executor();
  for (let round = 0; round < 50; round += 1) {
    await harness.engine.backfiller.startRuns();
    queue.wake();
    await queue.waitUntilIdle();
    const backfill = await find(harness, id);
    if (backfill.status !== "running") return backfill;
    harness.clock.advance(31 * 60_000);
  }
  throw new Error("The backfill did not end.");
}

describe("a backfill", () => {
  it("starts the runs of its range in order, at most as many as its concurrency", async () => {
    const harness = await open();
    const id = await publish(harness);
    const backfill = await insert(harness, id);
    expect(await harness.engine.backfiller.startRuns()).toBe(2);
    expect(await harness.engine.backfiller.startRuns()).toBe(0);
    expect(await runsOf(harness, id)).toMatchObject([
      { scheduledFor: at(1), trigger: "backfill", backfill, version: 1, priority: BACKFILL_PRIORITY },
      { scheduledFor: at(2) },
    ]);
    const ended = await runToEnd(harness, backfill);
    expect(ended).toMatchObject({ status: "finished", started: 4, skipped: 0, nextAt: null });
    expect(await timesOf(harness, id)).toEqual([at(1), at(2), at(3), at(4)]);
    const [first] = await runsOf(harness, id);
    expect(await harness.read.runs.inputs(first!.id)).toEqual({ at: at(1) });
    expect(await harness.read.backfills.runCounts(backfill)).toEqual({ succeeded: 4 });
  });

  it("starts each time once, however many executors go on with it", async () => {
    const harness = await open();
    const id = await publish(harness);
    await insert(harness, id, { concurrency: 3 });
    const others = await Promise.all(
      [1, 2, 3].map(() => testEngine({ stateDir: harness.stateDir, clock: harness.clock })),
    );
    await Promise.all([harness, ...others].map((one) => one.engine.backfiller.startRuns()));
    expect(await timesOf(harness, id)).toEqual([at(1), at(2), at(3)]);
  });

  it("starts each time once, however many backfills have it", async () => {
    const harness = await open();
    const id = await publish(harness);
    const [first, second] = [await insert(harness, id), await insert(harness, id)];
    const ended = await runToEnd(harness, first);
    const other = await runToEnd(harness, second);
    expect(await timesOf(harness, id)).toEqual([at(1), at(2), at(3), at(4)]);
    expect(ended.started + other.started).toBe(4);
    expect(ended.skipped + other.skipped).toBe(4);
  });

  it("skips the times that have a run, unless it repeats them", async () => {
    const harness = await open();
    const id = await publish(harness, { steps: [{ id: "a", type: "probe", ask: "${{ inputs.at }}" }] });
    harness.onProbe((time) => {
      if (time === at(2)) throw new Error("The shop is closed.");
      return time;
    });
    await runToEnd(harness, await insert(harness, id));
    harness.onProbe((time) => time);
    const again = await runToEnd(harness, await insert(harness, id));
    expect(again).toMatchObject({ status: "finished", started: 0, skipped: 4 });
    const failed = await insert(harness, id, { existing: "repeat_failed" });
    expect(await runToEnd(harness, failed)).toMatchObject({ started: 1, skipped: 3 });
    expect(await harness.read.backfills.runCounts(failed)).toEqual({ succeeded: 1 });
    const once = await insert(harness, id, { existing: "repeat_failed" });
    expect(await runToEnd(harness, once)).toMatchObject({ started: 0, skipped: 4 });
    const all = await insert(harness, id, { existing: "repeat" });
    expect(await runToEnd(harness, all)).toMatchObject({ started: 4, skipped: 0 });
  });

  it("lets other runs of its workflow go first", async () => {
    const harness = await open();
    const id = await publish(harness, { concurrency: 1 });
    const running = await harness.start(id);
    const backfill = await insert(harness, id);
    await harness.engine.backfiller.startRuns();
    expect(await find(harness, backfill)).toMatchObject({
      started: 0,
      message: expect.stringContaining("go first"),
    });
    await harness.stop(running);
    await (await harness.executor()).waitUntilIdle();
    expect(await harness.engine.backfiller.startRuns()).toBe(1);
    expect(await find(harness, backfill)).toMatchObject({ started: 1 });
  });

  it("leaves half of the limits of its owner to other runs, and goes on later", async () => {
    const harness = await open({ perKey: { runs_per_hour: 4 } });
    const id = await publish(harness);
    const backfill = await insert(harness, id, { concurrency: 4 });
    expect(await harness.engine.backfiller.startRuns()).toBe(2);
    expect((await find(harness, backfill)).message).toMatch(/runs of this hour/);
    await harness.start(id);
    harness.clock.advance(3_600_000);
    expect(await harness.engine.backfiller.startRuns()).toBe(2);
    expect(await find(harness, backfill)).toMatchObject({ started: 4, message: null });
  });

  it("neither skips runs of the schedule nor counts as one of them", async () => {
    const harness = await open();
    const id = await publish(harness);
    await insert(harness, id);
    await harness.engine.backfiller.startRuns();
    harness.clock.advance(31 * 60_000);
    expect(await harness.engine.scheduler.startDueRuns()).toBe(1);
    expect((await harness.read.schedules.find(id))!.skipped).toBeNull();
  });

  it("ends as failed when its workflow is no longer published, with the reason", async () => {
    const harness = await open();
    const id = await publish(harness);
    const backfill = await insert(harness, id);
    await harness.transaction((tx) => tx.schedules.remove(id));
    await harness.engine.backfiller.startRuns();
    expect(await find(harness, backfill)).toMatchObject({
      status: "failed",
      started: 0,
      message: expect.stringContaining("no longer published"),
      finishedAt: NOW,
    });
  });

  it("ends as failed when the inputs of a time are not valid", async () => {
    const harness = await open();
    const id = await publish(harness, {
      inputs: { type: "object", properties: { at: { type: "string", maxLength: 3 } } },
    });
    const backfill = await insert(harness, id);
    await harness.engine.backfiller.startRuns();
    expect(await find(harness, backfill)).toMatchObject({
      status: "failed",
      message: expect.stringMatching(/01:00:00.*inputs\.at/),
    });
  });

  it("ends as failed when a run would go beyond the limits of the key that started it", async () => {
    const harness = await testEngine({ clock: fakeClock(Date.parse("2026-11-22T00:00:00Z")) });
    const query = { id: "read", type: "sql", database: "shop", query: "SELECT 1 AS x" };
    const id = await publish(harness, { steps: [query] });
    const backfill = await insert(harness, id, { keyLimits: { databases: ["hr"] } });
    await harness.engine.backfiller.startRuns();
    expect(await harness.read.backfills.find(backfill)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("which this key may not use") as string,
    });
    expect(await runsOf(harness, id)).toEqual([]);
  });

  it("starts no more runs once it was cancelled, also while one is about to start", async () => {
    const harness = await open();
    const id = await publish(harness);
    const backfill = await insert(harness, id);
    const end = { message: null, finishedAt: NOW, cancelledBy: "operator" };
    const [started] = await Promise.all([
      harness.engine.backfiller.startRuns(),
      harness.transaction((tx) => tx.backfills.endRunning(backfill, { status: "cancelled", ...end })),
    ]);
    expect(await timesOf(harness, id)).toHaveLength(started);
    expect(await harness.engine.backfiller.startRuns()).toBe(0);
    const ended = await find(harness, backfill);
    expect(ended).toMatchObject({ status: "cancelled", started, cancelledBy: "operator" });
  });

  it("gives the runs that its runs start its low priority", async () => {
    const harness = await open();
    const child = await harness.define(
      { steps: [{ id: "b", type: "wait", for: "1h" }], priority: 5 },
      "Child",
    );
    const id = await publish(harness, { steps: [{ id: "a", type: "workflow", workflow: child }] });
    await insert(harness, id, { total: 1 });
    await harness.engine.backfiller.startRuns();
    const queue = await harness.executor();
    queue.wake();
    await queue.waitUntilIdle();
    expect(await runsOf(harness, child)).toMatchObject([
      { priority: BACKFILL_PRIORITY, trigger: "workflow" },
    ]);
  });
});
