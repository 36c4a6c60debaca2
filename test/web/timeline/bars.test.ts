import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Attempt, RunStep } from "../../../schemas/run.ts";
import { AttemptStatus, StepStatus } from "../../../schemas/run.ts";
import { type Bar, buildBar, timeRangeOf, tickLabel, axisTicks } from "../../../src/web/timeline/bars.ts";
import { barLabel, itemsLabel, rowLabel } from "../../../src/web/timeline/row-labels.ts";

const START = Date.parse("2026-11-21T10:00:00Z");
const at = (ms: number): string => new Date(START + ms).toISOString();

const attempt = (number: number, status: Attempt["status"], from: number, to: number | null): Attempt => ({
  attempt: number,
  status,
  started_at: at(from),
  finished_at: to === null ? null : at(to),
  usage: null,
  error: null,
});

type StepStatusName = RunStep["status"];

const step = (given: Partial<RunStep>): RunStep => ({
  id: "revenue",
  type: "sql",
  status: "succeeded",
  attempts: 1,
  started_at: null,
  finished_at: null,
  error: null,
  ...given,
});

const drawn = (bar: Bar | null) =>
  bar?.segments.map(({ activity, from, to, status }) => [activity, from - START, to - START, status]);

describe("buildBar", () => {
  it("returns null for a step that has not started", () => {
    expect(buildBar(step({ status: "pending" }), START)).toBeNull();
  });

  it("shows attempts and the backoff between them, from the first attempt on", () => {
    const list = [
      attempt(1, "failed", 0, 10),
      attempt(2, "interrupted", 30, 40),
      attempt(3, "succeeded", 90, 100),
    ];
    const bar = buildBar(step({ started_at: at(90), finished_at: at(100), attempt_list: list }), START + 999);
    expect(drawn(bar)).toEqual([
      ["running", 0, 10, "failed"],
      ["backoff", 10, 30, "pending"],
      ["running", 30, 40, "failed"],
      ["backoff", 40, 90, "pending"],
      ["running", 90, 100, "succeeded"],
    ]);
  });

  it("has the part of the items of a fan-out that failed", () => {
    const fanOut = { started_at: at(0), finished_at: at(10), items: { total: 200, done: 200, failed: 1 } };
    expect(buildBar(step(fanOut), START)!.failedPart).toBe(1 / 200);
    expect(buildBar(step({ ...fanOut, items: { total: 0, done: 0, failed: 0 } }), START)!.failedPart).toBe(0);
    const loop = step({ ...fanOut, items: { ...fanOut.items, max: 500 } });
    expect(buildBar(loop, START)!.failedPart).toBe(0);
    expect(barLabel(step(fanOut), buildBar(step(fanOut), START))).toBe("10 ms, 200 items");
    const clean = step({ ...fanOut, items: { total: 200, done: 200, failed: 0 } });
    expect(barLabel(clean, buildBar(clean, START))).toBe("10 ms");
  });

  it("extends to now while a step backs off before its next attempt", () => {
    const bar = buildBar(
      step({ status: "pending", attempts: 0, attempt_list: [attempt(1, "failed", 0, 10)] }),
      START + 50,
    );
    expect(drawn(bar)).toEqual([
      ["running", 0, 10, "failed"],
      ["backoff", 10, 50, "pending"],
    ]);
    expect(bar!.ongoing).toBe(true);
  });

  it("shows waits, approvals and sub-workflows as waiting, during and after them", () => {
    const waiting = step({
      type: "approval",
      status: "waiting",
      started_at: at(0),
      attempt_list: [attempt(1, "running", 0, null)],
    });
    expect(drawn(buildBar(waiting, START + 70))).toEqual([["waiting", 0, 70, "waiting"]]);
    const over = step({ type: "wait", started_at: at(0), finished_at: at(40) });
    expect(drawn(buildBar(over, START + 70))).toEqual([["waiting", 0, 40, "succeeded"]]);
  });

  const moment = fc.integer({ min: 0, max: 100_000 });
  const anyStep = fc
    .record({
      type: fc.constantFrom("sql", "wait", "approval", "workflow"),
      status: fc.constantFrom(...StepStatus.options),
      started: fc.option(moment),
      finished: fc.option(moment),
      attempts: fc.array(fc.tuple(fc.constantFrom(...AttemptStatus.options), moment, fc.option(moment)), {
        maxLength: 6,
      }),
    })
    .map(({ type, status, started, finished, attempts }) =>
      step({
        type,
        status,
        started_at: started === null ? null : at(started),
        finished_at: finished === null ? null : at(finished),
        attempt_list: attempts.map(([how, from, to], index) => attempt(index + 1, how, from, to)),
      }),
    );

  it("fills each bar with segments without overlap or gap, even if clocks differ", () => {
    fc.assert(
      fc.property(anyStep, moment, (any, now) => {
        const bar = buildBar(any, START + now);
        if (bar === null) return;
        const { from, to, segments } = bar;
        expect(segments.length).toBeGreaterThan(0);
        // Each starts where the previous one ends.
        expect(segments.map((segment) => segment.from)).toEqual([
          from,
          ...segments.slice(0, -1).map((one) => one.to),
        ]);
        expect(segments.at(-1)!.to).toBe(to);
        for (const segment of segments) expect(segment.to).toBeGreaterThanOrEqual(segment.from);
        expect(segments.reduce((sum, segment) => sum + segment.to - segment.from, 0)).toBe(to - from);
        expect(!bar.ongoing || to === Math.max(from, START + now)).toBe(true);
      }),
    );
  });

  it("lies within the time range", () => {
    fc.assert(
      fc.property(fc.array(anyStep), fc.option(moment), moment, (steps, started, now) => {
        const bars = steps.map((any) => buildBar(any, START + now));
        const span = timeRangeOf(bars, started === null ? null : at(started), null, START + now);
        expect(span.to).toBeGreaterThan(span.from);
        for (const bar of bars) {
          if (bar === null) continue;
          expect(bar.from).toBeGreaterThanOrEqual(span.from);
          expect(bar.to).toBeLessThanOrEqual(span.to);
        }
      }),
    );
  });
});

describe("axisTicks", () => {
  it("returns round ticks from 0, at most as many as requested", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e10 }), fc.integer({ min: 2, max: 20 }), (length, most) => {
        const ticks = axisTicks(length, most);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        expect(ticks.at(-1)).toBeLessThanOrEqual(length);
      }),
    );
    expect(axisTicks(80_000, 9)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => n * 10_000));
    expect(axisTicks(3, 9)).toEqual([0, 1, 2, 3]);
  });

  it.each([
    [0, "0"],
    [250, "250 ms"],
    [1_500, "1.5 s"],
    [90_000, "1 min 30 s"],
    [7_200_000, "2 h"],
    [5 * 86_400_000, "5 d"],
  ])("writes %i as %s", (ms, words) => {
    expect(tickLabel(ms)).toBe(words);
  });
});

const label = (given: Partial<RunStep>, now = START + 80_000) => {
  const any = step(given);
  return rowLabel(any, buildBar(any, now), START);
};

describe("row labels", () => {
  it("describe status, duration, start, attempts and items", () => {
    expect(label({ attempts: 2, started_at: at(300), finished_at: at(1_500) })).toBe(
      "revenue, sql, succeeded, 1.2 s, started after 0.3 s, 2 attempts",
    );
    expect(label({ status: "running", started_at: at(0), items: { total: 120, done: 118, failed: 2 } })).toBe(
      "revenue, sql, running, 1 min 20 s so far, started immediately, 118 of 120 items, 2 failed",
    );
    expect(label({ status: "pending" })).toBe("revenue, sql, pending, not started");
  });

  it("say why a step did not run", () => {
    const times = { started_at: at(10), finished_at: at(10) };
    expect(label({ ...times, reused_from: "cache" })).toBe(
      "revenue, sql, succeeded, cached, started after 0.01 s",
    );
    expect(barLabel(step({ ...times, reused_from: "run_a" }), null)).toBe("reused from run_a");
    expect(barLabel(step({ ...times, status: "skipped" }), null)).toBe("skipped");
    expect(barLabel(step({ status: "pending" }), null)).toBe("not started");
    const waits = step({ ...times, status: "waiting" });
    expect(barLabel(waits, buildBar(waits, START + 2_000), "1 of 2 approved")).toMatch(/s, 1 of 2 approved$/);
    expect(rowLabel(waits, null, START, "1 of 2 approved")).toMatch(/, 1 of 2 approved$/);
    expect(itemsLabel(step({ items: { total: 1, done: 1, failed: 0 } }))).toBe("1 item");
    expect(itemsLabel(step({ items: { total: 40, done: 40, failed: 2, reused: 17 } }))).toBe(
      "40 items, 17 reused, 2 failed",
    );
  });

  it("draws the last iterations of a loop, the pauses between them, and those before as one", () => {
    const iteration = (
      item: number,
      from: number,
      to: number | null,
      status: StepStatusName = "succeeded",
    ) => ({
      item,
      status,
      attempts: 1,
      started_at: at(from),
      finished_at: to === null ? null : at(to),
      error: null,
    });
    const polled = step({
      items: { total: 3, done: 3, failed: 1, max: 9 },
      started_at: at(0),
      finished_at: at(500),
      item_list: [iteration(0, 0, 100), iteration(1, 300, 400, "failed"), iteration(2, 450, 500)],
    });
    expect(drawn(buildBar(polled, START))).toEqual([
      ["running", 0, 100, "succeeded"],
      ["waiting", 100, 300, "pending"],
      ["running", 300, 400, "failed"],
      ["waiting", 400, 450, "pending"],
      ["running", 450, 500, "succeeded"],
    ]);
    const running = step({
      status: "running",
      items: { total: 42, done: 41, failed: 0, max: 50 },
      started_at: at(0),
      item_list: [iteration(40, 400, 450), iteration(41, 450, null, "running")],
    });
    expect(drawn(buildBar(running, START + 600))).toEqual([
      ["running", 0, 400, "succeeded"],
      ["running", 400, 450, "succeeded"],
      ["running", 450, 600, "running"],
    ]);
  });

  it("labels the iterations of a loop, which starts before its last attempt", () => {
    const items = { total: 3, done: 2, failed: 0, max: 50 };
    expect(itemsLabel(step({ items }))).toBe("iteration 3 of at most 50");
    const ended = step({
      items: { ...items, done: 3, failed: 1 },
      started_at: at(0),
      finished_at: at(900),
      attempt_list: [attempt(1, "failed", 800, 900)],
    });
    expect(itemsLabel(ended)).toBe("3 iterations, 1 failed");
    expect(buildBar(ended, START)).toMatchObject({ from: START, to: START + 900 });
  });
});
