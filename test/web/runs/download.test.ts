import { describe, expect, it } from "vitest";
import type { RunSummary } from "../../../schemas/run.ts";
import { fileName, readRuns, type RunPage, runsText } from "../../../src/web/runs/download.ts";

const run = (index: number, fields: Partial<RunSummary> = {}): RunSummary => ({
  id: `run_${index}`,
  workflow_id: "pay",
  version: 1,
  status: "succeeded",
  trigger: "rest",
  created_at: "2026-11-30T08:00:00.000Z",
  started_at: null,
  finished_at: null,
  error: null,
  ...fields,
});

/** Pages of 200 runs, with the position as the cursor. */
const pagesOf =
  (total: number) =>
  (cursor: string): Promise<RunPage> => {
    const from = Number(cursor);
    const data = Array.from({ length: Math.min(200, total - from) }, (_, index) => run(from + index));
    return Promise.resolve({ data, next: from + 200 < total ? String(from + 200) : null });
  };

const ignore = (): void => {};

describe("readRuns", () => {
  it("reads page by page to the end, and reports its progress", async () => {
    const progress: number[] = [];
    const { runs, more } = await readRuns(pagesOf(450), (count) => progress.push(count));
    expect(runs.map(({ id }) => id)).toEqual(Array.from({ length: 450 }, (_, index) => `run_${index}`));
    expect(more).toBe(false);
    expect(progress).toEqual([200, 400, 450]);
  });

  it("stops at 10,000 runs, and says whether there are more", async () => {
    const [all, cut] = [await readRuns(pagesOf(10_000), ignore), await readRuns(pagesOf(10_001), ignore)];
    expect({ count: all.runs.length, more: all.more }).toEqual({ count: 10_000, more: false });
    expect({ count: cut.runs.length, more: cut.more }).toEqual({ count: 10_000, more: true });
  });

  it("has a run once that is on two pages", async () => {
    const pages: RunPage[] = [
      { data: [run(1), run(2)], next: "2" },
      { data: [run(2), run(3)], next: null },
    ];
    const { runs } = await readRuns(() => Promise.resolve(pages.shift()!), ignore);
    expect(runs.map(({ id }) => id)).toEqual(["run_1", "run_2", "run_3"]);
  });

  it("gives no part of the runs when a page fails", async () => {
    await expect(readRuns(() => Promise.reject(new Error("offline")), ignore)).rejects.toThrow("offline");
  });
});

describe("runsText", () => {
  it("writes the columns of CSV, safe for spreadsheets", () => {
    const failed = run(1, {
      status: "failed",
      error: { code: "http_status", message: "=cmd|calc", step_id: "pay" },
    });
    expect(runsText([failed, run(2, { workflow_id: null, version: null, project: "finance" })], "csv")).toBe(
      "\uFEFFid,workflow_id,project,version,status,trigger,created_at,started_at,finished_at,error_step,error_code,error_message\r\n" +
        "run_1,pay,default,1,failed,rest,2026-11-30T08:00:00.000Z,,,pay,http_status,'=cmd|calc\r\n" +
        "run_2,,finance,,succeeded,rest,2026-11-30T08:00:00.000Z,,,,,\r\n",
    );
  });

  it("writes runs as the API returns them as JSON", () => {
    expect(JSON.parse(runsText([run(1)], "json"))).toEqual([run(1)]);
  });
});

describe("fileName", () => {
  it("has the local day, and says when it has only the newest runs", () => {
    const now = new Date(2026, 10, 3, 23, 30);
    expect(fileName(now, { runs: [run(1)], more: false }, "csv")).toBe("runs-2026-11-03.csv");
    expect(fileName(now, { runs: [run(1)], more: true }, "json")).toBe("runs-2026-11-03-newest-1.json");
  });
});
