/** The steps of a graph, from a workflow's definition and, for a run, the state of its steps. */
import type { RunStep, StepStatus } from "../../../schemas/run.ts";

export interface GraphStep {
  /** Unique in the graph. */
  id: string;
  /** Empty when the definition names no type yet. */
  type: string;
  /** Shown in place of the id. */
  name?: string;
  /** The ids of the steps that must end before it starts. */
  needs: readonly string[];
  /** Whether it has an `if`. */
  condition?: boolean;
  /** Whether it has a `for_each`. */
  fanOut?: boolean;
  /** Whether it has a `repeat`. */
  repeats?: boolean;
  /** Whether it has an `undo`. */
  undoable?: boolean;
  /** Whether it has a `lookup`. */
  hasLookup?: boolean;
  /** Its `rate`, such as `5/s`. */
  rate?: string;
  /** How many people must approve, if more than one. */
  required?: number;
  status?: StepStatus;
  /** Of items or iterations: `done` counts those that have ended, including failed ones. `max` is that of a loop. */
  progress?: { done: number; total: number; failed: number; max?: number | undefined };
  attempts?: number;
  /** The ids of the steps that it stands for (fold-steps.ts). */
  folded?: readonly string[];
}

/**
 * The steps to draw. Invalid parts of an unfinished definition are skipped.
 * @param states the steps of a run of this definition
 */
export function graphSteps(
  definition: Record<string, unknown> | null,
  states: readonly RunStep[] = [],
): GraphStep[] {
  const definedSteps = definition?.["steps"];
  if (!Array.isArray(definedSteps)) return states.map((state) => stepOfRun(state));
  const stateOf = new Map(states.map((state) => [state.id, state]));
  const steps = definedSteps.filter(isObject);
  const ids = uniqueIds(steps);
  const existing = new Set(ids);
  return steps.map((step, index) => {
    const id = ids[index]!;
    const needs = needsOf(step, ids[index - 1], existing);
    return stepOf(step, id, needs, stateOf.get(id));
  });
}

function stepOf(
  step: Readonly<Record<string, unknown>>,
  id: string,
  needs: readonly string[],
  state: RunStep | undefined,
): GraphStep {
  const named = textOf(step["id"]);
  return {
    id,
    type: textOf(step["type"]),
    ...(named !== id && { name: named === "" ? "(no id)" : named }),
    needs,
    ...(isGiven(step["if"]) && { condition: true }),
    ...(isGiven(step["for_each"]) && { fanOut: true }),
    ...(isGiven(step["repeat"]) && { repeats: true }),
    ...(isGiven(step["undo"]) && { undoable: true }),
    ...(isGiven(step["lookup"]) && { hasLookup: true }),
    ...(typeof step["rate"] === "string" && { rate: step["rate"] }),
    ...(typeof step["required"] === "number" && step["required"] > 1 && { required: step["required"] }),
    ...(state !== undefined && progressOf(state)),
  };
}

/** The ids in `needs`, or by default the previous step. Unknown ids are skipped. */
function needsOf(
  step: Readonly<Record<string, unknown>>,
  before: string | undefined,
  existing: ReadonlySet<string>,
): string[] {
  const { needs } = step;
  if (!Array.isArray(needs)) return before === undefined ? [] : [before];
  return [...new Set(needs.filter((id): id is string => existing.has(id as string)))];
}

/** Of two steps with the same id, the first keeps it, as in validation; the other is identified by its index. */
function uniqueIds(steps: readonly Readonly<Record<string, unknown>>[]): string[] {
  const taken = new Set<string>();
  return steps.map((step, index) => {
    const named = textOf(step["id"]);
    const id = named === "" || taken.has(named) ? `#${index}` : named;
    taken.add(id);
    return id;
  });
}

function progressOf({ status, attempts, items }: RunStep): Partial<GraphStep> {
  if (items === undefined) return { status, attempts };
  return {
    status,
    attempts,
    progress: items,
    ...(items.max === undefined ? { fanOut: true } : { repeats: true }),
  };
}

const stepOfRun = (state: RunStep): GraphStep => ({
  id: state.id,
  type: state.type,
  needs: [],
  ...progressOf(state),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
