/** What the runs of a key have committed to the state of workflows, for the report of its changes. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Kysely } from "kysely";
import { MAX_TARGETS, type OperationCount } from "../core/workflow-change-ports.ts";
import type { Schema } from "./schema.ts";

/** How the report names a commit, which leaves no entry in the audit log. */
const OPERATION = "commit_state";
/** Number of changes of states per query; between two queries other work runs. */
const SCAN_BATCH = 5_000;

/**
 * Counts the commits of the runs of a key since a moment, by project and by the program that started the run. Commits of purged runs are
 * not among them, nor those that the history of a state (state-changes.ts) no longer has.
 * @param lineage of the key
 * @param since ISO 8601
 */
export async function stateCommitsOf(
  db: Kysely<Schema>,
  lineage: string,
  since: string,
): Promise<OperationCount[]> {
  const counts = new Map<string, OperationCount>();
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const batch = await db
      .selectFrom("state_changes as change")
      .leftJoin("runs as run", (join) =>
        join.onRef("run.id", "=", "change.by").on("run.lineage", "=", lineage),
      )
      .select([
        "change.id",
        "change.at",
        "change.kind",
        "change.workflow_id as workflowId",
        "run.project",
        "run.client",
      ])
      .where("change.id", "<", before)
      .orderBy("change.id", "desc")
      .limit(SCAN_BATCH)
      .execute();
    for (const { at, kind, workflowId, project, client } of batch)
      if (kind === "commit" && at >= since && project !== null && client !== null)
        count(counts, { project, client, at, workflowId });
    const isReached = batch.every(({ at }) => at < since);
    if (isReached || batch.length < SCAN_BATCH) return [...counts.values()];
    before = batch.at(-1)!.id;
    await yieldToEventLoop();
  }
}

function count(
  counts: Map<string, OperationCount>,
  { project, client, at, workflowId }: { project: string; client: string; at: string; workflowId: string },
): void {
  const group = JSON.stringify([project, client]);
  const known = counts.get(group);
  if (known === undefined) {
    const first = { count: 1, firstAt: at, lastAt: at, targets: [workflowId] };
    counts.set(group, { operation: OPERATION, project, client, ...first });
    return;
  }
  known.count += 1;
  if (at < known.firstAt) known.firstAt = at;
  if (at > known.lastAt) known.lastAt = at;
  if (known.targets.length < MAX_TARGETS && !known.targets.includes(workflowId))
    known.targets.push(workflowId);
}
