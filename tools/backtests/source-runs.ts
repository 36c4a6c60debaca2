/** Chooses the runs that a backtest runs again. */
import type { RunStatus } from "../../schemas/run.ts";
import type { ListPosition, RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/** Number of runs that are read at a time, and at most, where only those of one version count. */
const PAGE = 200;
const MAX_READ = 10_000;

interface Wanted {
  workflowId: string;
  project: string;
  last: number;
  status: readonly RunStatus[];
  version: number | undefined;
  since: string | undefined;
  until: string | undefined;
}

/** The newest runs first. Trials are none of them. */
export async function sourceRuns(
  runs: Pick<RunReader, "page">,
  { workflowId, project, last, status, version, since, until }: Wanted,
): Promise<RunRecord[]> {
  const filter = { workflowId, project, status, isTrial: false, since, until };
  const found: RunRecord[] = [];
  let after: ListPosition | null = null;
  for (let read = 0; read < MAX_READ && found.length < last; read += PAGE) {
    const page: { items: RunRecord[]; next: ListPosition | null } = await runs.page({
      filter,
      after,
      limit: PAGE,
    });
    found.push(...page.items.filter((run) => version === undefined || run.version === version));
    after = page.next;
    if (after === null) break;
  }
  return found.slice(0, last);
}
