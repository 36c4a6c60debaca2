import { QueryClient } from "@tanstack/react-query";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Backfill } from "../../../schemas/backfill.ts";
import type { RunSummary } from "../../../schemas/run.ts";
import { followRuns } from "../../../src/web/workflows/follow-runs.ts";
import { backfillsQuery, recentRunsQuery, stateQuery } from "../../../src/web/workflows/queries.ts";

const ID = "weekly-revenue";

const run = (id: string, status: RunSummary["status"]): RunSummary => ({
  id,
  workflow_id: ID,
  version: 1,
  status,
  trigger: "backfill",
  created_at: "2026-11-21T08:00:00.000Z",
  started_at: "2026-11-21T08:00:00.000Z",
  finished_at: status === "succeeded" ? "2026-11-21T08:00:01.000Z" : null,
  error: null,
});
const backfill = (status: Backfill["status"], runs: Backfill["runs"]) =>
  ({ id: "bf_1", status, runs }) as Backfill;

function open() {
  const client = new QueryClient();
  const set = {
    runs: (runs: RunSummary[]) => void client.setQueryData(recentRunsQuery(ID).queryKey, runs),
    backfills: (backfills: Backfill[]) => void client.setQueryData(backfillsQuery(ID).queryKey, backfills),
  };
  client.setQueryData(stateQuery(ID).queryKey, null);
  set.runs([run("run_1", "running")]);
  set.backfills([backfill("running", { running: 1 })]);
  onTestFinished(followRuns(client, ID));
  const isStale = (key: readonly unknown[]) => client.getQueryState(key)!.isInvalidated;
  return { client, set, isStale };
}

describe("the page of a workflow", () => {
  it("loads its runs and state again when a backfill goes on", () => {
    const { set, isStale } = open();
    set.backfills([backfill("running", { running: 1 })]);
    expect(isStale(stateQuery(ID).queryKey)).toBe(false);
    set.backfills([backfill("finished", { succeeded: 1 })]);
    expect(isStale(stateQuery(ID).queryKey)).toBe(true);
    expect(isStale(recentRunsQuery(ID).queryKey)).toBe(true);
    expect(isStale(backfillsQuery(ID).queryKey)).toBe(false);
  });

  it("loads its state and backfills again when a run ends", () => {
    const { set, isStale } = open();
    set.runs([run("run_1", "succeeded")]);
    expect(isStale(stateQuery(ID).queryKey)).toBe(true);
    expect(isStale(backfillsQuery(ID).queryKey)).toBe(true);
  });
});
