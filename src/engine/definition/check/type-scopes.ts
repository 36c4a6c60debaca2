/** The scopes of the steps' expressions, computed without listing all steps for each step. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import { type Facts, factsOfCondition, uniteFacts as unite, withFacts } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { StepOrder } from "./step-order.ts";

const WORD = /[a-z][a-z0-9_]{0,63}/g;

/** Finds the ids of steps that occur in the strings of a value, as a reference or by coincidence. */
export function mentionedStepIds(
  value: unknown,
  ids: ReadonlyMap<string, number>,
  found = new Set<string>(),
): Set<string> {
  if (typeof value === "string") {
    for (const [word] of value.matchAll(WORD)) if (ids.has(word)) found.add(word);
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) mentionedStepIds(inner, ids, found);
  }
  return found;
}

export interface TypeScopes {
  /** Only the steps that a step mentions, which is enough to check a step without issues. */
  ofMentionedSteps(index: number, mentions: ReadonlySet<string>): TypeScope;
  /** All steps, to find near matches. */
  ofAllSteps(index: number): TypeScope;
  /** The scope of `output`, which reads all steps. */
  ofOutput(): TypeScope;
}

/** The shapes of what every expression of a run can read. */
export type RunShapes = Pick<TypeScope, "inputs" | "run" | "state">;

/** @param results the shape of `steps.<id>` by position, for the steps that are checked */
export function typeScopes(
  steps: readonly ParsedStep[],
  order: StepOrder,
  { inputs, run, state }: RunShapes,
  results: readonly (Shape | undefined)[],
): TypeScopes {
  const shapeAt = (index: number): Shape => results[index] ?? ANY;
  const asserted = steps.flatMap((step, index) => {
    const facts = assertedFacts(step);
    return facts === undefined ? [] : [{ index, facts }];
  });
  // If the graph has an issue, the ancestors are unknown. The issue of the graph is reported, not those that follow.
  const mayRead = (index: number, other: number): boolean =>
    order.uncertain.has(index) || order.isAncestor(index, other);
  const scope = (
    readable: Record<string, Shape>,
    otherSteps: ReadonlySet<string>,
    precedes: (other: number) => boolean,
  ): TypeScope =>
    withFacts(
      { inputs, run, state, steps: readable, otherSteps },
      unite(...asserted.filter(({ index }) => precedes(index)).map(({ facts }) => facts)),
    );
  const scopeOf = (index: number, ids: Iterable<string>): TypeScope => {
    const readable: Record<string, Shape> = {};
    const otherSteps = new Set<string>();
    for (const id of ids) {
      if (id.startsWith("#")) continue;
      const other = order.position.get(id)!;
      if (mayRead(index, other) && other !== index) readable[id] = shapeAt(other);
      else otherSteps.add(id);
    }
    return scope(readable, otherSteps, (other) => order.isAncestor(index, other));
  };
  return {
    ofMentionedSteps: scopeOf,
    ofAllSteps: (index) => scopeOf(index, order.position.keys()),
    ofOutput: () =>
      scope(Object.fromEntries(steps.map(({ id }, index) => [id, shapeAt(index)])), new Set(), () => true),
  };
}

/** What holds after a step, because it fails the run unless its condition is true. */
function assertedFacts({ raw, type }: ParsedStep): Facts | undefined {
  const { condition } = type ?? {};
  if (condition === undefined || "if" in raw || "for_each" in raw || raw["on_error"] === "continue")
    return undefined;
  return factsOfCondition(raw[condition]);
}
