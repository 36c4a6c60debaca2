/** Interruptions as the API returns them. */
import type { Interruption } from "../../schemas/interruption.ts";
import { projectField } from "../../schemas/project.ts";
import { AppError } from "../../src/core/errors.ts";
import type { InterruptionRecord } from "../../src/core/interruption-ports.ts";
import type { Readers } from "../../src/core/ports.ts";

/** @throws AppError interruption_not_found */
export async function findInterruption(
  read: Pick<Readers, "interruptions">,
  id: string,
): Promise<InterruptionRecord> {
  const found = await read.interruptions.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "interruption_not_found",
    `There is no interruption "${id.slice(0, 100)}". GET /interruptions lists the open ones; they are deleted with their runs.`,
  );
}

/** @param read may be a transaction */
export async function toInterruption(
  read: Pick<Readers, "runs">,
  record: InterruptionRecord,
): Promise<Interruption> {
  const { runId, stepId, item, outcome, isAsked, lookup } = record;
  const step = isAsked && outcome === null ? await read.runs.step({ runId, stepId, item }) : undefined;
  return {
    id: record.id,
    run_id: runId,
    workflow_id: record.workflowId,
    ...projectField(record.project),
    step_id: stepId,
    ...(item !== null && { item }),
    attempt: record.attempt,
    reason: record.reason,
    idempotency_key: record.idempotencyKey,
    started_at: record.startedAt,
    interrupted_at: record.interruptedAt,
    waiting: step?.state === "waiting",
    lookup: lookup && { at: lookup.at, error: lookup.error },
    outcome,
    settled_at: record.settledAt,
    settled_by: record.settledBy,
    comment: record.comment,
  };
}
