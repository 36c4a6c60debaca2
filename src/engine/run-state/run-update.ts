/** A run that a transaction is changing. */
import type { RunRecord } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { StepStates } from "../../core/step-states.ts";
import type { CompiledDefinition } from "../definition/compiled-definition.ts";
import type { RunContext } from "./run-context.ts";

export interface RunUpdate {
  tx: EngineWriters;
  run: RunRecord;
  compiled: CompiledDefinition;
  /** The number of this update, which the run and the steps that it changes are saved with. */
  seq: number;
  /** The states of the steps so far; the run as it was read keeps the old ones. */
  states: StepStates;
}

/** Locks a run to change it. @returns undefined when the run does not exist or has ended */
export async function beginUpdate(
  context: Pick<RunContext, "definitionCache">,
  tx: EngineWriters,
  runId: string,
): Promise<RunUpdate | undefined> {
  const run = await tx.runs.lock(runId);
  if (run === undefined || run.finishedAt !== null) return undefined;
  const compiled = await context.definitionCache.get(run, tx.runs);
  return { tx, run, compiled, seq: run.seq + 1, states: run.stepStates };
}

/** Whether no step may start any more, because the run was stopped or a step failed. */
export const isEnding = (run: Pick<RunRecord, "stop" | "stepStates">): boolean =>
  run.stop !== null || run.stepStates.anyFailed();
