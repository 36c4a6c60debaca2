/** The ways in which a step can wait, and what the rest of the engine does with any of them. */
import type { StepRecord, StepRef } from "../../../core/model.ts";
import type { EngineWriters } from "../../../core/run-ports.ts";
import type { StepOutcome } from "../../../core/step-type.ts";
import type { RunContext } from "../run-context.ts";
import type { Wait, WaitEnd } from "../step-result.ts";
import { approvalWait } from "./approval.ts";
import { childRunWait } from "./child-run.ts";
import { eventWait } from "./event.ts";
import { interruptionWait } from "./interruption.ts";
import { timerWait } from "./timer.ts";
import type { OutcomeWait, WaitKind, WaitRequest, WaitStart } from "./wait-kind.ts";

type WaitOutcome = Exclude<StepOutcome, { kind: "done" }>;

/** The waits that are outcomes of step types. */
const OUTCOME_WAITS: { readonly [K in WaitOutcome["kind"]]: OutcomeWait<K> } = {
  child: childRunWait,
  approval: approvalWait,
  event: eventWait,
  wait: timerWait,
};

/**
 * In the order in which they are matched: the step of an approval or an event can have a `waitUntil` too. Interruptions come last,
 * because they are rare and a match is a query.
 */
const WAIT_KINDS: { readonly [K in Wait["kind"]]: WaitKind<K> } = {
  ...OUTCOME_WAITS,
  interruption: interruptionWait,
};

/** @throws StepError */
export const prepareWait = (outcome: WaitOutcome, request: WaitRequest): Promise<Wait> =>
  (OUTCOME_WAITS[outcome.kind] as OutcomeWait<WaitOutcome["kind"]>).prepare(outcome, request);

/** Writes the rows and jobs of a wait. @returns the new state of the step, and the fields of its record */
export async function beginWait(start: WaitStart, wait: Wait) {
  const { state, begin } = WAIT_KINDS[wait.kind] as WaitKind<Wait["kind"]>;
  return { state, ...(await begin(start, wait)) };
}

/** Ends a wait because its timer is due. @returns undefined when it has ended in another way meanwhile */
export async function endTimedWait(
  context: RunContext,
  tx: EngineWriters,
  step: StepRecord,
  ref: StepRef,
): Promise<WaitEnd | undefined> {
  const run = await tx.runs.find(ref.runId);
  if (run === undefined) return undefined;
  const { definition, position } = await context.definitionCache.get(run, tx.runs);
  const defined = definition.steps[position.get(ref.stepId)!]!;
  for (const { matches, onTimer } of Object.values(WAIT_KINDS)) {
    if (await matches(tx, step, ref, defined)) return onTimer(context, tx, step, ref);
  }
  return undefined;
}
