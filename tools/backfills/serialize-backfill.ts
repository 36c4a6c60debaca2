/** Backfills as the API returns them. */
import type { Backfill } from "../../schemas/backfill.ts";
import { projectField } from "../../schemas/project.ts";
import type { BackfillReader, BackfillRecord } from "../../src/core/backfill-ports.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";

/** @throws AppError workflow_not_found, backfill_not_found */
export async function findBackfill(
  read: Pick<Readers, "workflows" | "backfills">,
  workflowId: string,
  id: string,
): Promise<BackfillRecord> {
  const workflow = await findWorkflow(read.workflows, workflowId);
  const found = await read.backfills.find(id);
  if (found?.workflowId === workflow.id) return found;
  throw new AppError(
    "backfill_not_found",
    `"${workflow.id}" has no backfill "${id}". GET /workflows/${workflow.id}/backfills lists them.`,
  );
}

export async function toBackfill(
  read: Pick<BackfillReader, "runCounts">,
  record: BackfillRecord,
): Promise<Backfill> {
  const { total, started, skipped, actor } = record;
  return {
    id: record.id,
    workflow_id: record.workflowId,
    ...projectField(record.project),
    version: record.version,
    cron: record.cron,
    timezone: record.timezone,
    from: record.from,
    to: record.to,
    existing: record.existing,
    concurrency: record.concurrency,
    status: record.status,
    slots: { total, started, skipped, left: total - started - skipped },
    runs: await read.runCounts(record.id),
    next_at: record.status === "running" ? record.nextAt : null,
    reason: record.reason,
    message: record.message,
    started_by: actor.owner,
    created_at: record.createdAt,
    finished_at: record.finishedAt,
    cancelled_by: record.cancelledBy,
  };
}
