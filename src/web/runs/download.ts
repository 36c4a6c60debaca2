/** Reads all runs that fit a filter, for a file. */
import { rowsToCsv } from "../../../schemas/csv.ts";
import type { RunSummary } from "../../../schemas/run.ts";
import { RUN_COLUMNS, toRunRow } from "../../../schemas/run-columns.ts";
import { formatJson } from "../ui/save-file.ts";

/** Maximum number of runs of a file: the browser holds all of them in memory. */
export const MAX_DOWNLOAD_RUNS = 10_000;

export interface RunPage {
  data: RunSummary[];
  /** Cursor of the next page; null on the last page. */
  next: string | null;
}

interface ReadRuns {
  runs: RunSummary[];
  /** Whether more fit than were read. */
  more: boolean;
}

/**
 * @param readPage reads the page of a cursor; empty for the first one
 * @param onProgress called with the number of runs after each page
 */
export async function readRuns(
  readPage: (cursor: string) => Promise<RunPage>,
  onProgress: (count: number) => void,
): Promise<ReadRuns> {
  // A run that is created meanwhile moves no other one, but the same run is never written twice.
  const runs = new Map<string, RunSummary>();
  let next: string | null = "";
  while (next !== null && runs.size < MAX_DOWNLOAD_RUNS) {
    const page: RunPage = await readPage(next);
    for (const run of page.data) runs.set(run.id, run);
    onProgress(runs.size);
    next = page.next;
  }
  const all = [...runs.values()];
  return {
    runs: all.slice(0, MAX_DOWNLOAD_RUNS),
    more: next !== null || all.length > MAX_DOWNLOAD_RUNS,
  };
}

export const runsText = (runs: readonly RunSummary[], type: "csv" | "json"): string =>
  type === "csv" ? rowsToCsv(runs.map(toRunRow), RUN_COLUMNS) : formatJson(runs);

/** "runs-2026-11-30.csv"; the name of a file that is cut says so. */
export function fileName(now: Date, { runs, more }: ReadRuns, type: "csv" | "json"): string {
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  return `runs-${day}${more ? `-newest-${runs.length}` : ""}.${type}`;
}
