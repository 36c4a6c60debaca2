/** readGroups reads a bounded number of runs, and says where to go on. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MINUTE, iso } from "../../src/core/clock.ts";
import type { ListPosition } from "../../src/core/model.ts";
import type { RunReader, ScannedRun } from "../../src/core/run-ports.ts";
import { compileForRuns } from "../../src/engine/definition/run-expressions.ts";
import { groupQuery } from "../../tools/runs/group-query.ts";
import { readGroups } from "../../tools/runs/read-groups.ts";

const START = Date.parse("2026-11-21T08:00:00Z");
const signal = new AbortController().signal;

/** Runs at these minutes, newest first. Several may have been created in the same moment. */
const runsAt = (minutes: readonly number[]): ScannedRun[] =>
  minutes
    .map((minute, index): ScannedRun => {
      const createdAt = iso(START + minute * MINUTE);
      return {
        id: `run_${String(index).padStart(4, "0")}`,
        workflowId: "a",
        version: (minute % 3) + 1,
        status: "succeeded",
        trigger: "rest",
        createdAt,
        startedAt: createdAt,
        finishedAt: iso(START + minute * MINUTE + index),
        error: null,
        values: [],
      };
    })
    .toSorted((a, b) =>
      a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
    );

const isAfter = (run: ScannedRun, after: ListPosition | null): boolean =>
  after === null || run.createdAt < after[0] || (run.createdAt === after[0] && run.id < after[1]);

/** A reader of these runs that counts how many it reads. */
function readerOf(all: readonly ScannedRun[]) {
  let count = 0;
  const scan: RunReader["scan"] = ({ filter: { until }, after, limit }) => {
    const rest = all.filter((run) => (until === undefined || run.createdAt < until) && isAfter(run, after));
    const items = rest.slice(0, limit);
    count += items.length;
    const last = items.at(-1);
    return Promise.resolve({ items, next: rest.length > limit ? [last!.createdAt, last!.id] : null });
  };
  return { runs: { scan }, signal, count: () => count };
}

const queryBy = (groupBy: readonly string[]) =>
  groupQuery(
    { compileForRuns: (source) => Promise.resolve(compileForRuns(source)) },
    { where: undefined, groupBy, measures: [], timezone: undefined },
  );

it("readGroups counts each run once when its caller goes on with until as often as it says so", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
      async (minutes, part, runs) => {
        const all = runsAt(minutes);
        const reader = readerOf(all);
        const query = await queryBy(["run.id", "version"]);
        const counted: string[] = [];
        let until: string | undefined;
        for (;;) {
          const answer = await readGroups(reader, { until }, query, 1_000, { part, runs, groups: 1_000 });
          counted.push(...answer.groups.map(({ by }) => by["run.id"] as string));
          expect(answer.read).toBe(answer.runs);
          if (answer.complete) break;
          expect(answer.read).toBeGreaterThanOrEqual(runs);
          until = /until: "(.*)"/.exec(answer.next!)![1];
        }
        expect(counted.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
      },
    ),
    { numRuns: 200, seed: 7 },
  );
});

it("readGroups reads no more than a part beyond its limit", async () => {
  const reader = readerOf(runsAt(Array.from({ length: 100 }, (_, index) => index)));
  const answer = await readGroups(reader, {}, await queryBy([]), 10, { part: 7, runs: 20, groups: 9 });
  expect(answer).toMatchObject({ runs: 20, read: 20, complete: false });
  expect(reader.count()).toBeLessThanOrEqual(27);
});

it("readGroups counts no more groups than its limit, and says where to go on", async () => {
  const reader = readerOf(runsAt(Array.from({ length: 30 }, (_, index) => index)));
  const limits = { part: 7, runs: 100, groups: 4 };
  const answer = await readGroups(reader, {}, await queryBy(["run.id"]), 2, limits);
  expect(answer).toMatchObject({ runs: 4, total: 4, complete: false });
  expect(answer.next).toMatch(
    /^Only the newest 4 runs were read.* These are the 2 groups with the most runs, of 4/,
  );
});

it("readGroups shows the median and the 95th percentile of durations, by nearest rank", async () => {
  const reader = readerOf(runsAt(Array.from({ length: 20 }, () => 1)));
  const { groups } = await readGroups(reader, {}, await queryBy([]), 10);
  expect(groups[0]).toMatchObject({ runs: 20, duration_ms: { median: 9, p95: 18 } });
});
