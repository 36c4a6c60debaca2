import { expect, it } from "vitest";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { rowsToCsv } from "../../../schemas/csv.ts";
import { groupRows, withoutIds } from "../../../src/web/runs/group-rows.ts";

const LONG = "12345678901234567890.5";

const GROUPS: RunGroup[] = [
  {
    by: { version: 1 },
    runs: 3,
    statuses: { running: 1, succeeded: 2 },
    first: { run_id: "run_a", created_at: "2026-11-20T08:00:00.000Z" },
    last: { run_id: "run_b", created_at: "2026-11-20T09:00:00.000Z" },
  },
  {
    by: { version: 2, "output.region": { truncated: true, chars: 900, preview: '"north' } },
    runs: 2,
    statuses: { succeeded: 1, failed: 1 },
    first: { run_id: "run_c", created_at: "2026-11-21T08:00:00.000Z" },
    last: { run_id: "run_d", created_at: "2026-11-21T09:00:00.000Z" },
    duration_ms: { median: 20, p95: 40 },
    measures: { "output.total": { runs: 1, min: LONG, max: LONG, sum: LONG, mean: 12345678901234567000 } },
  },
];

const rows = groupRows(GROUPS, ["version", "output.region"], ["output.total"]);

it("groupRows has a column for each key, status, duration and part of a measure", () => {
  expect(rows.columns).toEqual([
    { name: "version", kind: "number" },
    { name: "output.region", kind: "text" },
    { name: "runs", kind: "number" },
    { name: "succeeded", kind: "number" },
    { name: "failed", kind: "number" },
    { name: "running", kind: "number" },
    { name: "median_ms", kind: "number" },
    { name: "p95_ms", kind: "number" },
    { name: "output.total min", kind: "number" },
    { name: "output.total max", kind: "number" },
    { name: "output.total mean", kind: "number" },
    { name: "output.total sum", kind: "number" },
    { name: "first", kind: "time" },
    { name: "last", kind: "time" },
    { name: "first_run", kind: "text" },
    { name: "last_run", kind: "text" },
  ]);
});

it("groupRows leaves out what a group lacks, and keeps all digits of numbers", () => {
  expect(rows.rows[0]).toMatchObject({
    version: 1,
    runs: 3,
    succeeded: 2,
    failed: 0,
    running: 1,
    median_ms: null,
  });
  expect(rows.rows[0]).not.toHaveProperty("output.region");
  expect(rows.rows[1]).toMatchObject({
    "output.region": '"north…',
    "output.total sum": LONG,
    first_run: "run_c",
  });
});

it("withoutIds leaves the ids of runs to the download", () => {
  expect(withoutIds(rows).columns.map(({ name }) => name)).not.toContain("first_run");
  const csv = rowsToCsv(
    rows.rows,
    rows.columns.map(({ name }) => name),
    { for: "program" },
  );
  expect(csv.split("\r\n")[1]).toBe(
    "1,,3,2,0,1,,,,,,,2026-11-20T08:00:00.000Z,2026-11-20T09:00:00.000Z,run_a,run_b",
  );
});
