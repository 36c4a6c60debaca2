/** What the expressions of a run can name, loaded from what is recorded. */
import type { RunError } from "../../../schemas/run.ts";
import type { StepDefinition } from "../../../schemas/workflow-definition.ts";
import { CHUNK_ITEMS, type RunReader, type RunRecord } from "../../core/run-ports.ts";
import { type StepState, toStepStatus } from "../../core/step-states.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { Scope } from "../definition/expressions/types.ts";
import type { Plan, PlannedStep } from "../definition/plan.ts";

/** `run` in expressions. */
const runScope = (
  run: Pick<RunRecord, "id" | "workflowId" | "trigger" | "createdAt" | "startedAt" | "scheduledFor">,
) => ({
  id: run.id,
  workflow_id: run.workflowId,
  trigger: run.trigger,
  started_at: run.startedAt ?? run.createdAt,
  scheduled_for: run.scheduledFor,
});

/** Names of what a step of this type gives: they are null where it gave nothing. */
function outputNames(type: AnyStepType, step: StepDefinition): string[] {
  if (type.output.kind === "object") return Object.keys(type.output.fields);
  // What a set step gives is what it was told to.
  return Object.keys(step["values"] ?? {});
}

type Ended = { state: StepState; error: RunError | null; output: Record<string, unknown> | null };

const stepValue = (
  { step, type }: PlannedStep,
  { state, error, output }: Ended,
): Record<string, unknown> => ({
  ...(output ?? Object.fromEntries(outputNames(type, step).map((name) => [name, null]))),
  status: toStepStatus(state),
  error,
});

/** How many outputs and chunks are kept parsed: the items of a fan-out ask for the same ones again and again. */
const KEPT = 8;

function keeper<T>(): (key: string, load: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return (key, load) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value!);
    const loading = load();
    kept.set(key, loading);
    loading.catch(() => kept.delete(key));
    return loading;
  };
}

export interface ExpressionScopes {
  /** The scope of a step, or of one item of its fan-out, that reads the outputs of `reads`. */
  loadScope(
    plan: Plan,
    run: RunRecord,
    reads: Iterable<string>,
    unit?: { stepId: string; item: number | null },
  ): Promise<Scope>;
  /** What one step gave, as expressions see it. */
  stepValue(plan: Plan, run: RunRecord, id: string): Promise<Record<string, unknown>>;
}

/** Builds scopes. What is recorded of an ended step never changes, so what was loaded is kept for a while. */
export function expressionScopes(runs: RunReader): ExpressionScopes {
  const outputs = keeper<Record<string, unknown>>();
  const chunks = keeper<unknown[]>();
  const inputs = keeper<Record<string, unknown>>();

  async function load(plan: Plan, run: RunRecord, id: string): Promise<Record<string, unknown>> {
    const position = plan.compiled.position.get(id)!;
    const planned = plan.steps[position]!;
    const unit = { runId: run.id, stepId: id, item: null };
    const record = await runs.step(unit);
    if (record !== undefined && record.items !== null) {
      const items = await runs.itemOutputs(unit);
      return {
        status: toStepStatus(record.state),
        error: record.error,
        items: items.map((item) => stepValue(planned, item)),
      };
    }
    const state = record?.state ?? run.stepStates.at(position);
    const error = record?.error ?? null;
    // Skipped, or its list could not be worked out: there are no items.
    if (planned.forEach !== null) return { status: toStepStatus(state), error, items: null };
    return stepValue(planned, {
      state,
      error,
      output: record === undefined ? null : await runs.output(unit),
    });
  }

  const stepValueOf: ExpressionScopes["stepValue"] = (plan, run, id) =>
    outputs(`${run.id} ${id}`, () => load(plan, run, id));

  async function itemOf(runId: string, stepId: string, item: number): Promise<unknown> {
    const chunk = Math.floor(item / CHUNK_ITEMS);
    const items = await chunks(`${runId} ${stepId} ${chunk}`, () => runs.itemChunk({ runId, stepId }, chunk));
    return items[item % CHUNK_ITEMS];
  }

  return {
    stepValue: stepValueOf,
    async loadScope(plan, run, reads, unit) {
      const steps: Record<string, unknown> = {};
      for (const id of reads) steps[id] = await stepValueOf(plan, run, id);
      const given = await inputs(run.id, () => runs.inputs(run.id));
      const scope: Scope = { inputs: given, run: runScope(run), steps };
      if (unit === undefined || unit.item === null) return scope;
      return { ...scope, item: await itemOf(run.id, unit.stepId, unit.item), index: unit.item };
    },
  };
}
