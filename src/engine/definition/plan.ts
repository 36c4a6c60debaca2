/** Compiles the expressions of a definition, once for all of its runs. */
import type { StepDefinition, Definition } from "../../../schemas/workflow-definition.ts";
import { durationCutter, type DurationCutter, type DurationLimits } from "../../core/duration-limits.ts";
import type { AnyStepType, Field } from "../../core/step-type.ts";
import { compileCel, compileValue, MAX_INLINE_COST } from "./expressions/index.ts";
import type { CompiledExpression, Scope } from "./expressions/types.ts";
import type { CompiledDefinition, LookupStep } from "./compiled-definition.ts";
import { type PlannedRepeat, planRepeat } from "./repeat.ts";

/** Maximum size of a `for_each` list, in bytes of JSON. */
const LIST = { maxOutputBytes: 16 * 1024 * 1024 };
/** Maximum size of a field or output, in bytes of JSON. */
const VALUE = { maxOutputBytes: 4 * 1024 * 1024 };

export interface PlannedStep {
  step: StepDefinition;
  type: AnyStepType;
  if: CompiledExpression | null;
  forEach: CompiledExpression | null;
  repeat: PlannedRepeat | null;
  /** The fields of its type. */
  fields: ReadonlyMap<string, CompiledExpression | { literal: unknown }>;
  /** Ids of the steps whose outputs its `if`, its `for_each` and the start of its `repeat` read. */
  conditionReads: ReadonlySet<string>;
  /** Ids of the steps whose outputs its fields read. */
  fieldReads: ReadonlySet<string>;
  /** Timeout of an attempt, in milliseconds; null without a limit. */
  timeoutMs: number | null;
  /** Its pauses are in milliseconds; null where it is not retried. */
  retry: (NonNullable<StepDefinition["retry"]> & { initialMs: number; maxMs: number }) | null;
  /** How long its output is cached, in milliseconds; null for no cache. */
  cacheMs: number | null;
  /** What finds out whether the effect of an interrupted attempt happened; null for nothing. */
  lookup: PlannedLookup | null;
}

/** A request that only reads, and what follows from its output, which expressions read as `result`. */
interface PlannedLookup {
  request: PlannedStep;
  happened: CompiledExpression;
  /** What the step returns if it happened; null for the output of the request. */
  output: CompiledExpression | null;
  /** Ids of the steps whose outputs it reads. */
  reads: ReadonlySet<string>;
}

export interface Plan {
  compiled: CompiledDefinition;
  steps: readonly PlannedStep[];
  /** What undoes a step, by the id of that step. */
  undo: ReadonlyMap<string, PlannedStep>;
  /** The output of the run; null for the output of the last step. */
  output: CompiledExpression | null;
  /** What the run commits to the state of its workflow; null for nothing. */
  commit: CompiledExpression | null;
}

/** Returns a function that makes the plan of a compiled definition once, and caches it. */
export function planner(
  stepTypes: readonly AnyStepType[],
  limits: DurationLimits,
): (compiled: CompiledDefinition) => Plan {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const cut = durationCutter(limits);
  const plans = new WeakMap<CompiledDefinition, Plan>();
  return (compiled) => {
    const cached = plans.get(compiled);
    if (cached !== undefined) return cached;
    const plan = planOf(compiled, types, cut);
    plans.set(compiled, plan);
    return plan;
  };
}

function planOf(
  compiled: CompiledDefinition,
  types: ReadonlyMap<string, AnyStepType>,
  cut: DurationCutter,
): Plan {
  const { definition } = compiled;
  return {
    compiled,
    steps: definition.steps.map((step) => ({
      ...plannedStep(step, types.get(step.type)!, cut),
      lookup: plannedLookup(compiled.lookups.get(step.id)?.step, types, cut),
    })),
    undo: new Map(
      [...compiled.undo].map(([id, { step }]) => [id, plannedStep(step, types.get(step.type)!, cut)]),
    ),
    output: definition.output === undefined ? null : compileValue(definition.output, VALUE),
    commit: definition.commit === undefined ? null : compileValue(definition.commit, VALUE),
  };
}

function plannedStep(step: StepDefinition, type: AnyStepType, cut: DurationCutter): PlannedStep {
  const condition = step.if === undefined ? null : compileCel(step.if);
  const forEach = step.for_each === undefined ? null : compileCel(step.for_each, LIST);
  const repeat = step.repeat === undefined ? null : planRepeat(step.repeat, cut.pause);
  const fields = new Map(
    Object.entries(type.fields as Readonly<Record<string, Field>>)
      .filter(([name]) => step[name] !== undefined)
      .map(([name, field]) => [name, compiledField(field, step[name])] as const),
  );
  const fieldReads = new Set<string>();
  for (const field of fields.values())
    if (!("literal" in field)) for (const id of field.stepIds) fieldReads.add(id);
  return {
    step,
    type,
    if: condition,
    forEach,
    repeat,
    fields,
    conditionReads: new Set([
      ...(condition?.stepIds ?? []),
      ...(forEach?.stepIds ?? []),
      ...(repeat?.startReads ?? []),
    ]),
    fieldReads,
    timeoutMs: cut.timeout(type, step.timeout),
    retry:
      step.retry === undefined
        ? null
        : { ...step.retry, initialMs: cut.pause(step.retry.initial), maxMs: cut.pause(step.retry.max) },
    cacheMs:
      step.cache === undefined
        ? null
        : cut.pause(typeof step.cache === "string" ? step.cache : step.cache.for),
    lookup: null,
  };
}

function plannedLookup(
  step: LookupStep | undefined,
  types: ReadonlyMap<string, AnyStepType>,
  cut: DurationCutter,
): PlannedLookup | null {
  if (step === undefined) return null;
  const request = plannedStep(step, types.get(step.type)!, cut);
  const happened = compileCel(step.happened);
  const output = step.output === undefined ? null : compileValue(step.output, VALUE);
  const reads = new Set([...request.fieldReads, ...happened.stepIds, ...(output?.stepIds ?? [])]);
  return { request, happened, output, reads };
}

function compiledField(field: Field, value: unknown): CompiledExpression | { literal: unknown } {
  if (field.kind === "literal") return { literal: value };
  return field.kind === "cel"
    ? compileCel(value as string | boolean, VALUE)
    : compileValue(value, { ...VALUE, encoding: field.encoding });
}

/**
 * Evaluates the fields of a step.
 * @throws StepError of the expressions
 */
export async function resolveFields(
  { fields }: PlannedStep,
  evaluate: (expression: CompiledExpression) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    resolved[name] = "literal" in field ? field.literal : await evaluate(field);
  }
  return resolved;
}

/**
 * Evaluates the inputs of a schedule for one run. They read `run` only, so they get no more work than the event loop has
 * time for.
 * @throws StepError of the expressions
 */
export function scheduleInputs(definition: Definition, run: Scope["run"]): Record<string, unknown> {
  const inputs = definition.schedule?.inputs ?? {};
  const scope: Scope = { inputs: {}, run, steps: {} };
  return compileValue(inputs).evaluate(scope, MAX_INLINE_COST) as Record<string, unknown>;
}
