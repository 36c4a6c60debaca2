/** Exports the runs of a list as CSV or JSON. */
import type { RunSummary } from "../../../schemas/run.ts";
import type { ApiResponse } from "../api/client.ts";
import { toCsv } from "../values/csv.ts";
import { runName } from "./run-name.ts";

/** Maximum number of runs of an export. */
export const MAX_EXPORTED = 5_000;

/** Maximum number of pages of an export: those of a search may have no runs. */
const MAX_PAGES = 50;

type LoadPage = (cursor: string) => Promise<ApiResponse<RunSummary[]>>;

interface ExportedRuns {
  runs: RunSummary[];
  /** Whether the list may have more runs than the export contains. */
  isCut: boolean;
}

/**
 * Loads the runs of a list page by page.
 * @param onProgress called with the number of loaded runs
 * @throws the reason of the signal when it is aborted
 */
export async function loadRuns(
  loadPage: LoadPage,
  onProgress: (loaded: number) => void,
  signal: AbortSignal,
): Promise<ExportedRuns> {
  const runs: RunSummary[] = [];
  let pages = 0;
  for (let cursor: string | null = ""; cursor !== null;) {
    signal.throwIfAborted();
    const { data, next }: ApiResponse<RunSummary[]> = await loadPage(cursor);
    runs.push(...data);
    onProgress(runs.length);
    cursor = next;
    pages += 1;
    if ((runs.length >= MAX_EXPORTED || pages >= MAX_PAGES) && cursor !== null)
      return { runs: runs.slice(0, MAX_EXPORTED), isCut: true };
  }
  return { runs: runs.slice(0, MAX_EXPORTED), isCut: runs.length > MAX_EXPORTED };
}

const COLUMNS = [
  "id",
  "name",
  "workflow_id",
  "version",
  "project",
  "status",
  "trigger",
  "created_at",
  "started_at",
  "finished_at",
  "duration_ms",
  "error_code",
  "error_step",
  "error_message",
] as const;

/** The runs as CSV, one line each; times in UTC. */
export const runsToCsv = (runs: readonly RunSummary[]): string =>
  toCsv(
    runs.map((run) => ({
      ...run,
      name: runName(run),
      duration_ms:
        run.started_at === null || run.finished_at === null
          ? ""
          : Date.parse(run.finished_at) - Date.parse(run.started_at),
      project: run.project ?? "",
      started_at: run.started_at ?? "",
      finished_at: run.finished_at ?? "",
      error_code: run.error?.code ?? "",
      error_step: run.error?.step_id ?? "",
      error_message: run.error?.message ?? "",
    })),
    COLUMNS.map((name) => ({ name, kind: "text" })),
  );
