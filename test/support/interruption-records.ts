/** Interruptions for tests. */
import type { InterruptionWriter } from "../../src/core/interruption-ports.ts";
import { interruptionWriter } from "../../src/store/interruptions.ts";
import { byteCounter } from "../../src/store/stored-bytes.ts";
import type { TestInstance } from "./instance.ts";

type Opened = Parameters<InterruptionWriter["open"]>[0];

/** An interruption of the step "pay" of the run "run_1", to be opened. */
export const newInterruption = (id: string, fields: Partial<Opened> = {}): Opened => ({
  id,
  runId: "run_1",
  stepId: "pay",
  item: null,
  project: "default",
  workflowId: "test",
  attempt: 1,
  reason: "executor_ended",
  idempotencyKey: "run_1:pay:-:key",
  startedAt: "2026-11-21T08:00:00.000Z",
  interruptedAt: "2026-11-21T08:00:01.000Z",
  ...fields,
});

/** Opens an interruption of a run, as if the executor of its step "pay" had died. @returns its id */
export async function addInterruption(
  { store, read }: Pick<TestInstance, "store" | "read">,
  runId: string,
): Promise<string> {
  const { project, workflowId } = (await read.runs.find(runId))!;
  const opened = newInterruption(runId.replace("run_", "int_"), { runId, project, workflowId });
  await store.transaction((trx) => interruptionWriter(trx, byteCounter(trx)).open(opened));
  return opened.id;
}
