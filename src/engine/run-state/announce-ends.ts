/** Updates the messages in chats about approvals of a run that have ended, once the transaction is committed. */
import type { RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { newJob, runRef } from "./run-context.ts";

export const announceEnds = async (
  tx: Pick<EngineWriters, "jobs">,
  { id, priority }: Pick<RunRecord, "id" | "priority">,
): Promise<void> => tx.jobs.add(newJob(runRef(id), "announce", priority));
