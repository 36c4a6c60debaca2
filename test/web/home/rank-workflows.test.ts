import { expect, it } from "vitest";
import type { RunGroup } from "../../../schemas/run-groups.ts";
import { oldestRun, rankWorkflows, workflowOf } from "../../../src/web/home/rank-workflows.ts";

const group = (id: string | undefined, runs: number, failed: number, first = "2026-11-20"): RunGroup => ({
  by: id === undefined ? {} : { workflow_id: id },
  runs,
  statuses: failed > 0 ? { succeeded: runs - failed, failed } : { succeeded: runs },
  first: { run_id: "run_1", created_at: `${first}T08:00:00.000Z` },
  last: { run_id: "run_2", created_at: "2026-11-21T08:00:00.000Z" },
});

it("rankWorkflows puts the most failed runs first, then the most runs; single steps have no workflow", () => {
  const groups = [
    group("quiet", 1, 0),
    group("busy", 900, 0),
    group(undefined, 5, 0),
    group("broken", 3, 3),
    group("shaky", 800, 2),
    group("shakier", 801, 2),
  ];
  expect(rankWorkflows(groups).map(workflowOf)).toEqual([
    "broken",
    "shakier",
    "shaky",
    "busy",
    null,
    "quiet",
  ]);
});

it("oldestRun is the first run of all groups", () => {
  const groups = [group("a", 1, 0, "2026-11-19"), group("b", 1, 0, "2026-11-08"), group("c", 1, 0)];
  expect(oldestRun(groups)).toBe("2026-11-08T08:00:00.000Z");
});
