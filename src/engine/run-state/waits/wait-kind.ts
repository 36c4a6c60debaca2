/** The interface of one kind of wait. A new kind is one module in this folder and one entry in index.ts. */
import type { StepDefinition } from "../../../../schemas/workflow-definition.ts";
import type { PreparedRun } from "../../../core/engine-port.ts";
import type { Job, RunRecord, StepRecord, StepRef } from "../../../core/model.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import type { StepState } from "../../../core/step-states.ts";
import type { StepOutcome } from "../../../core/step-type.ts";
import type { RunContext } from "../run-context.ts";
import type { RunUpdate } from "../run-update.ts";
import type { Wait, WaitEnd } from "../step-result.ts";

type WaitOf<K> = Extract<Wait, { kind: K }>;
type OutcomeOf<K> = Extract<StepOutcome, { kind: K }>;

/** The attempt whose outcome is a wait. */
export interface WaitRequest {
  run: RunRecord;
  job: Job;
  inputHash: string;
  /** Current time, in milliseconds. */
  now: number;
  /** Maximum duration of the wait, in milliseconds; null for no limit. */
  timeoutMs: number | null;
  /** What can run after the step, for an approval: see remaining-work.ts. */
  planLevels(run: RunRecord, stepId: string): Promise<readonly string[]>;
  /** Prepares the run of another workflow. @throws StepError */
  prepareChildRun(run: RunRecord, job: Job, outcome: OutcomeOf<"child">): Promise<PreparedRun>;
}

/** A wait that begins: the step, and the number of the attempt that its jobs belong to. */
export interface WaitStart {
  context: RunContext;
  update: RunUpdate;
  ref: StepRef;
  attempt: number;
}

/** A kind of wait that is the outcome of a step type. */
export interface OutcomeWait<K extends Exclude<StepOutcome["kind"], "done">> extends WaitKind<K> {
  /** Turns a step type's outcome into the wait to record. Runs outside of transactions. @throws StepError */
  prepare(outcome: OutcomeOf<K>, request: WaitRequest): Promise<WaitOf<K>>;
}

export interface WaitKind<K extends Wait["kind"]> {
  /** The state of the step during the wait: `running` when another run is active for it. */
  state: Extract<StepState, "waiting" | "running">;
  /** Writes the rows and jobs of the wait. @returns the fields of the step's record that describe it */
  begin(start: WaitStart, wait: WaitOf<K>): Promise<Partial<Pick<StepRecord, "waitUntil" | "childRun">>>;
  /** Whether the step waits in this way. */
  matches(tx: EngineWriters, step: StepRecord, ref: StepRef, definition: StepDefinition): Promise<boolean>;
  /** Ends the wait because its timer is due. @returns undefined when it has ended in another way meanwhile */
  onTimer(
    context: RunContext,
    tx: EngineWriters,
    step: StepRecord,
    ref: StepRef,
  ): Promise<WaitEnd | undefined>;
}
