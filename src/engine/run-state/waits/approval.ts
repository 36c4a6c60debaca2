/** Approvals: a step waits until a person decides, or until its time to be decided is over. */
import type { ApprovalRecord } from "../../../core/model.ts";
import type { ApprovalWriter, EngineWriters } from "../../../core/run-ports.ts";
import type { Applied } from "../../../core/transactions.ts";
import { newJob } from "../transitions.ts";

/**
 * Records a decision, and adds the job that ends the wait.
 * @returns false when the approval was no longer pending, because it was decided or expired; nothing is written then
 */
export async function recordDecision(
  tx: EngineWriters,
  { id, runId, stepId, item }: ApprovalRecord,
  decision: Parameters<ApprovalWriter["decide"]>[1],
): Promise<Applied> {
  if (!(await tx.approvals.decide(id, decision))) return false;
  const run = (await tx.runs.find(runId))!;
  await tx.jobs.add(newJob({ runId, stepId, item }, "decided", run.priority));
  return true;
}
