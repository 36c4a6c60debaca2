import { describe, expect, it } from "vitest";
import type { RunStatus, RunSummary } from "../../../schemas/run.ts";
import { bulkButton, type ListedRuns } from "../../../src/web/bulk-actions/choice.ts";
import { readFilters } from "../../../src/web/runs/filters.ts";

const run = (id: string, status: RunStatus, fields: Partial<RunSummary> = {}): RunSummary => ({
  id,
  workflow_id: "pay",
  version: 1,
  status,
  trigger: "rest",
  created_at: "2026-11-30T08:00:00.000Z",
  started_at: null,
  finished_at: null,
  error: null,
  ...fields,
});

const listed = (query: string, fields: Partial<ListedRuns> = {}): ListedRuns => ({
  filters: readFilters(new URLSearchParams(query)),
  project: {},
  total: 40,
  selected: [],
  ...fields,
});

describe("a button without a selection", () => {
  it("acts on all runs of a filter that has only fitting statuses, and says how many", () => {
    expect(bulkButton("retry", listed("status=failed,cancelled&workflow=pay"))).toEqual({
      label: "Retry all 40…",
      target: {
        action: "retry",
        runs: { workflow_id: "pay", status: ["failed", "cancelled"] },
        description: "All failed and cancelled runs of pay.",
      },
    });
  });

  it("calls the workflow of the filter by its name", () => {
    const { target } = bulkButton("retry", listed("status=failed&workflow=pay", { workflowName: "Pay out" }));
    expect(target).toMatchObject({ description: "All failed runs of Pay out." });
  });

  it("names the statuses where the number of runs is not known", () => {
    const { label } = bulkButton("cancel", listed("status=running", { total: null }));
    expect(label).toBe("Cancel all running…");
  });

  it("is off for a search, whose runs no filter of a bulk action finds", () => {
    for (const query of ["status=failed&search=inv", "status=failed&where=output.x%20%3E%203"])
      expect(bulkButton("retry", listed(query))).toEqual({
        label: "Retry…",
        target: { reason: expect.stringContaining("Select runs of the search") as string },
      });
    const selected = [run("run_1", "failed")];
    expect(bulkButton("retry", listed("search=inv", { selected }))).toMatchObject({
      target: { runs: { run_ids: ["run_1"] } },
    });
  });

  it("sends only statuses that fit the action", () => {
    const both = listed("status=failed,running");
    expect(bulkButton("retry", both)).toMatchObject({
      label: "Retry all failed…",
      target: { runs: { status: ["failed"] } },
    });
    expect(bulkButton("cancel", both)).toMatchObject({
      label: "Cancel all running…",
      target: { runs: { status: ["running"] } },
    });
  });

  it("retries failed runs and cancels unfinished ones without a filter of statuses", () => {
    expect(bulkButton("retry", listed(""))).toMatchObject({
      label: "Retry all failed…",
      target: { runs: { status: ["failed"] } },
    });
    expect(bulkButton("cancel", listed(""))).toMatchObject({
      label: "Cancel all unfinished…",
      target: { runs: { status: ["running", "waiting", "queued"] } },
    });
  });

  it("gives a reason where the filter has only statuses that do not fit", () => {
    expect(bulkButton("retry", listed("status=queued"))).toEqual({
      label: "Retry…",
      target: { reason: "The filter finds only runs that have not ended." },
    });
    expect(bulkButton("cancel", listed("status=failed"))).toEqual({
      label: "Cancel…",
      target: { reason: "The filter finds only runs that have ended." },
    });
  });

  it("sends the whole filter: the project, the trigger, and local days as timestamps", () => {
    const query = "status=failed&trigger=schedule&since=2026-11-20&until=2026-11-21";
    expect(bulkButton("retry", listed(query, { project: { project: "finance" } })).target).toEqual({
      action: "retry",
      runs: {
        status: ["failed"],
        trigger: "schedule",
        since: new Date(2026, 10, 20).toISOString(),
        until: new Date(2026, 10, 22).toISOString(),
        project: "finance",
      },
      description: "All failed runs, trigger Schedule, created since 2026-11-20, created until 2026-11-21.",
    });
  });
});

describe("a button with a selection", () => {
  it("acts on the selected runs that fit, whatever the filter", () => {
    const selected = [run("run_1", "failed"), run("run_2", "running"), run("run_3", "succeeded")];
    expect(bulkButton("retry", listed("status=queued", { selected }))).toEqual({
      label: "Retry 2 selected…",
      target: {
        action: "retry",
        runs: { run_ids: ["run_1", "run_3"] },
        description: "2 selected runs. 1 selected run is left out: it has not ended.",
      },
    });
    expect(bulkButton("cancel", listed("", { selected })).target).toEqual({
      action: "cancel",
      runs: { run_ids: ["run_2"] },
      description: "1 selected run. 2 selected runs are left out: they have ended.",
    });
  });

  it("gives a reason where no selected run fits", () => {
    const { target } = bulkButton("cancel", listed("", { selected: [run("run_1", "failed")] }));
    expect(target).toEqual({ reason: "All of the selected runs have ended." });
    const unfinished = bulkButton("retry", listed("", { selected: [run("run_1", "queued")] }));
    expect(unfinished.target).toEqual({ reason: "None of the selected runs has ended." });
  });

  it("refuses runs of several projects, which one bulk action can't have", () => {
    const selected = [run("run_1", "failed"), run("run_2", "failed", { project: "finance" })];
    expect(bulkButton("retry", listed("", { selected })).target).toEqual({
      reason: "The selected runs are of several projects. Select runs of one project.",
    });
    // The other one would not be cancelled anyway.
    const fitting = [run("run_1", "running"), run("run_2", "failed", { project: "finance" })];
    expect(bulkButton("cancel", listed("", { selected: fitting })).target).toMatchObject({
      runs: { run_ids: ["run_1"] },
    });
  });

  it("refuses more runs than a request can name", () => {
    const selected = Array.from({ length: 1_001 }, (_, index) => run(`run_${index}`, "failed"));
    expect(bulkButton("retry", listed("", { selected })).target).toEqual({
      reason: "Select at most 1,000 runs.",
    });
    expect(bulkButton("retry", listed("", { selected: selected.slice(1) })).target).toHaveProperty("action");
  });
});
