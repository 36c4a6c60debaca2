/** Counts failed runs by workflow. */
import type { Kysely } from "kysely";
import type { RunFilter } from "../core/model.ts";
import type { WorkflowFailures } from "../core/run-ports.ts";
import { isOneOf } from "./dialect.ts";
import { newestRuns } from "./run-lists.ts";
import type { Schema } from "./schema.ts";

/**
 * Groups the newest `limit` failed runs of a filter by workflow; runs of single steps are left out. An index returns their ids in
 * order, so the cost depends on `limit` alone.
 * @returns most failures first, and whether there are more failed runs than `limit`
 */
export async function failuresByWorkflow(
  db: Kysely<Schema>,
  { filter, limit }: { filter: RunFilter; limit: number },
): Promise<{ workflows: WorkflowFailures[]; isCapped: boolean }> {
  const keys = await newestRuns(db, {
    filter: { ...filter, status: ["failed"] },
    after: null,
    limit: limit + 1,
  });
  const counted = keys.slice(0, limit);
  const rows = await db
    .selectFrom("runs")
    .select(["id", "workflow_id"])
    .where((eb) => isOneOf(eb.ref("id"), JSON.stringify(counted.map(({ id }) => id))))
    .execute();
  const workflowOf = new Map(rows.map((row) => [row.id, row.workflow_id]));
  const byWorkflow = new Map<string, WorkflowFailures>();
  for (const { id, created_at: at } of counted) {
    const workflowId = workflowOf.get(id) ?? null;
    if (workflowId === null) continue;
    const found = byWorkflow.get(workflowId);
    if (found === undefined)
      byWorkflow.set(workflowId, { workflowId, failed: 1, lastFailedAt: at, lastRunId: id });
    else found.failed += 1;
  }
  // The sort is stable, so of equal counts the one that failed last comes first.
  const workflows = [...byWorkflow.values()].toSorted((a, b) => b.failed - a.failed);
  return { workflows, isCapped: keys.length > limit };
}
