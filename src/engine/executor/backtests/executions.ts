/** The records of a run as comparisons read them: its definition, its steps, and what each of these did. */
import type { RunRecord, StepRecord, StepRef } from "../../../core/model.ts";
import type { RunReader } from "../../../core/run-ports.ts";
import { type AnyStepType, runsInTrial } from "../../../core/step-type.ts";
import type { Plan, PlannedStep } from "../../definition/plan.ts";

/** Number of items that are read at a time. */
const PAGE = 500;

/** A run with its plan and the records of its steps. */
export interface Recorded {
  run: RunRecord;
  plan: Plan;
  /** Without the items of fan-outs. */
  steps: ReadonlyMap<string, StepRecord>;
}

export async function readRecorded(runs: RunReader, run: RunRecord, plan: Plan): Promise<Recorded> {
  const records = await runs.steps(run.id);
  return { run, plan, steps: new Map(records.map((record) => [record.stepId, record])) };
}

export const plannedStep = ({ plan }: Recorded, stepId: string): PlannedStep | undefined => {
  const position = plan.compiled.position.get(stepId);
  return position === undefined ? undefined : plan.steps[position]!;
};

/** Whether a step does something that others notice: it has effects, or asks a person. */
export const hasEffect = ({ type, step }: { type: AnyStepType; step: PlannedStep["step"] }): boolean =>
  type.hasEffects(step) || !runsInTrial(type, step);

/** One execution of a step, or of an item of it. */
export interface Execution {
  ref: StepRef;
  record: StepRecord;
}

/** The executions of a step: of a fan-out or a loop those of its items, in order. */
export async function* executionsOf(
  runs: RunReader,
  { run, steps }: Recorded,
  stepId: string,
): AsyncGenerator<Execution> {
  const record = steps.get(stepId);
  if (record === undefined) return;
  const ref: StepRef = { runId: run.id, stepId, item: null };
  if (record.items === null) {
    yield { ref, record };
    return;
  }
  for (let from = 0; ; from += PAGE) {
    const items = await runs.items({ runId: run.id, stepId }, from, PAGE);
    for (const item of items) yield { ref: { ...ref, item: item.item }, record: item };
    if (items.length < PAGE) return;
  }
}

/** Maximum length of an input, output or committed state, in characters of JSON. */
export const MAX_CHARS = 4 * 1024 * 1024;

/** The input of the last attempt; undefined where none is stored. */
export async function inputOf(
  runs: Pick<RunReader, "valueText">,
  { ref, record }: Execution,
): Promise<unknown> {
  const at = { ...ref, what: "attempt_input", attempt: record.attempts } as const;
  const stored = await runs.valueText(at, { from: 0, chars: MAX_CHARS });
  return stored === undefined || stored.chars > stored.text.length ? undefined : JSON.parse(stored.text);
}
