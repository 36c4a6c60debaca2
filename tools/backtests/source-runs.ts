/** Chooses the runs that a backtest runs again. */
import type { RunStatus } from "../../schemas/run.ts";
import type { ListPosition, RunRecord } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

/** Number of runs that are read at a time, and at most, where only some count. */
const PAGE = 200;
const MAX_READ = 10_000;

interface Wanted {
  workflowId: string;
  project: string;
  last: number;
  status: readonly RunStatus[];
  since?: string | undefined;
  until?: string | undefined;
  /** Which of them count. */
  isWanted: (run: RunRecord) => boolean;
}

interface SourceRuns {
  /** The newest first. Trials are none of them. */
  runs: RunRecord[];
  /** Whether older ones were left out, although there are fewer than were wanted. */
  isCut: boolean;
}

export async function sourceRuns(
  runs: Pick<RunReader, "page">,
  { workflowId, project, last, status, since, until, isWanted }: Wanted,
): Promise<SourceRuns> {
  const filter = { workflowId, project, status, isTrial: false, since, until };
  const found: RunRecord[] = [];
  let after: ListPosition | null = null;
  for (let read = 0; read < MAX_READ && found.length < last; read += PAGE) {
    const page: { items: RunRecord[]; next: ListPosition | null } = await runs.page({
      filter,
      after,
      limit: PAGE,
    });
    found.push(...page.items.filter(isWanted));
    after = page.next;
    if (after === null) break;
  }
  return { runs: found.slice(0, last), isCut: after !== null && found.length < last };
}
