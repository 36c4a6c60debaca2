import { describe, expect, it } from "vitest";
import { ApiError } from "../../../src/web/api/client.ts";
import { type BulkResult, MAX_BULK, runBulk } from "../../../src/web/runs/bulk.ts";
import { loadRuns, MAX_EXPORTED, runsToCsv } from "../../../src/web/runs/export-runs.ts";
import type { RunSummary } from "../../../schemas/run.ts";

const problem = (code: string, errors: { path: string; code: string; message: string }[] = []) =>
  new ApiError({
    type: "about:blank",
    title: "No",
    status: 409,
    detail: `No: ${code}.`,
    code,
    request_id: "",
    errors,
  });

const summary = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  id,
  workflow_id: "weekly-revenue",
  workflow_name: "Weekly revenue",
  version: 3,
  status: "failed",
  trigger: "web",
  created_at: "2026-11-21T08:00:00.000Z",
  started_at: "2026-11-21T08:00:01.000Z",
  finished_at: "2026-11-21T08:00:03.500Z",
  error: { code: "assert_failed", message: '=1+1, "no"', step_id: "check" },
  ...more,
});

const page = (next: string | null, count: number) => ({
  data: Array.from({ length: count }, (_, index) => summary(`run_${index}`)),
  etag: null,
  total: null,
  isTotalCapped: false,
  next,
});

const headerFor = () => ({ "Idempotency-Key": "k" });

describe("a bulk action", () => {
  it("reports of each run what became of it, and why it was refused", async () => {
    const results: BulkResult[] = [];
    await runBulk(
      async ({ runId: id }) => {
        if (id === "b") throw problem("run_finished");
        if (id === "c")
          throw problem("confirmation_needed", [{ path: "send", code: "effect", message: "sends mail" }]);
        return { startedRun: `new-${id}` };
      },
      ["a", "b", "c"],
      { headerFor, onResult: (result) => results.push(result), signal: new AbortController().signal },
    );
    expect(results).toEqual([
      { runId: "a", outcome: "done", startedRun: "new-a" },
      { runId: "b", outcome: "refused", reason: "No: run_finished." },
      { runId: "c", outcome: "effects", reason: "send sends mail" },
    ]);
  });

  it("is limited, and stops before the next run", async () => {
    const asked: string[] = [];
    const controller = new AbortController();
    const ids = Array.from({ length: MAX_BULK + 5 }, (_, index) => String(index));
    const request = async ({ runId }: { runId: string }) => {
      asked.push(runId);
      return {};
    };
    await runBulk(request, ids, { headerFor, onResult: () => {}, signal: controller.signal });
    expect(asked).toHaveLength(MAX_BULK);
    await runBulk(request, ids, { headerFor, onResult: () => controller.abort(), signal: controller.signal });
    expect(asked).toHaveLength(MAX_BULK + 1);
  });
});

describe("an export of runs", () => {
  it("loads page by page up to its limit, and says whether there are more", async () => {
    const progress: number[] = [];
    const { signal } = new AbortController();
    const small = await loadRuns(
      async (cursor) => (cursor === "" ? page("2", 3) : page(null, 2)),
      (loaded) => progress.push(loaded),
      signal,
    );
    expect([small.runs.length, small.isCut, progress]).toEqual([5, false, [3, 5]]);
    const large = await loadRuns(
      async () => page("more", 200),
      () => {},
      signal,
    );
    expect([large.runs.length, large.isCut]).toEqual([MAX_EXPORTED, true]);
  });

  it("writes a line for each run, without cells that a spreadsheet would execute", () => {
    const [heading, line] = runsToCsv([summary("run_1")]).split("\r\n");
    expect(heading).toMatch(/^id,name,workflow_id,version/);
    expect(line).toBe(
      `run_1,Weekly revenue,weekly-revenue,3,,failed,web,2026-11-21T08:00:00.000Z,2026-11-21T08:00:01.000Z,2026-11-21T08:00:03.500Z,2500,assert_failed,check,"'=1+1, ""no"""`,
    );
  });
});
