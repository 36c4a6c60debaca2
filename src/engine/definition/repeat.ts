/** Compiles the `repeat` of a step: its variables, and the condition that ends it. */
import type { Repeat } from "../../../schemas/repeat.ts";
import { compileCel, compileValue } from "./expressions/index.ts";
import type { CompiledExpression } from "./expressions/types.ts";

export interface PlannedRepeat {
  /** Maximum number of iterations. */
  max: number;
  /** Pause between iterations, in milliseconds. */
  everyMs: number;
  /** Null: it runs `max` times. */
  until: CompiledExpression | null;
  variables: readonly { name: string; start: CompiledExpression; next: CompiledExpression }[];
  /** Ids of the steps whose outputs `start` of its variables reads. */
  startReads: ReadonlySet<string>;
  /** Ids of the steps whose outputs `until`, and `next` of its variables, read. */
  nextReads: ReadonlySet<string>;
}

export function planRepeat(repeat: Repeat, parsePause: (duration: string) => number): PlannedRepeat {
  const until = repeat.until === undefined ? null : compileCel(repeat.until);
  const variables = Object.entries(repeat.with ?? {}).map(([name, { start, next }]) => ({
    name,
    start: compileValue(start),
    next: compileCel(next),
  }));
  return {
    max: repeat.max,
    everyMs: repeat.every === undefined ? 0 : parsePause(repeat.every),
    until,
    variables,
    startReads: stepIdsOf(variables.map(({ start }) => start)),
    nextReads: stepIdsOf([...(until === null ? [] : [until]), ...variables.map(({ next }) => next)]),
  };
}

const stepIdsOf = (expressions: readonly CompiledExpression[]): Set<string> => {
  const ids = new Set<string>();
  for (const { stepIds } of expressions) for (const id of stepIds) ids.add(id);
  return ids;
};

/**
 * Evaluates the variables of an iteration.
 * @param which `start` for the first iteration, `next` for the others
 * @throws StepError of the expressions
 */
export async function evaluateVariables(
  { variables }: PlannedRepeat,
  which: "start" | "next",
  evaluate: (expression: CompiledExpression) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const values: [string, unknown][] = [];
  for (const variable of variables) values.push([variable.name, await evaluate(variable[which])]);
  return Object.fromEntries(values);
}
