/** The order in which the keys of a definition are written. */

/** After these, the other keys of a definition follow in the order of the language. */
const FIRST_AT_TOP = ["id", "name", "description", "tags", "draft", "inputs", "state", "steps"];
const LAST_AT_TOP = [
  "output",
  "output_schema",
  "commit",
  "schedule",
  "triggers",
  "examples",
  "timeout",
  "concurrency",
  "priority",
  "must_succeed",
  "backtest",
  "on_failure",
  "expose_as_tool",
  "tool_name",
];
const FIRST_IN_STEP = ["id", "type", "description", "needs", "if", "for_each", "concurrency"];
const LAST_IN_STEP = ["retry", "timeout", "on_error", "cache", "on_interrupted", "lookup"];

/** A place of a definition whose keys have an order. */
export type Level = "top" | "step";

const ORDERS = {
  top: [FIRST_AT_TOP, LAST_AT_TOP],
  step: [FIRST_IN_STEP, LAST_IN_STEP],
} as const satisfies Record<Level, readonly [first: readonly string[], last: readonly string[]]>;

/** Returns a number by which keys are sorted; 0 for one that has no place of its own. */
export function rankOfKey(level: Level, key: string): number {
  const [first, last] = ORDERS[level];
  return first.includes(key) ? first.indexOf(key) - first.length : last.indexOf(key) + 1;
}

/** A definition with the keys of its top and of its steps in order. */
export function orderDefinition(definition: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const ordered = orderKeys("top", definition);
  const { steps } = ordered;
  if (Array.isArray(steps)) ordered["steps"] = (steps as unknown[]).map(orderStep);
  return ordered;
}

/** A step with its keys in order. */
export const orderStep = (step: unknown): unknown =>
  typeof step === "object" && step !== null && !Array.isArray(step)
    ? orderKeys("step", step as Record<string, unknown>)
    : step;

const orderKeys = (level: Level, value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => rankOfKey(level, a) - rankOfKey(level, b)));
