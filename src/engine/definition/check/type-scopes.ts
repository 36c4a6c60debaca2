/** What each step's expressions may read, made without listing every step for every step. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { TypeScope } from "../expressions/types.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { StepOrder } from "./step-order.ts";
import { RUN_SHAPE } from "./step-shapes.ts";

const WORD = /[a-z][a-z0-9_]{0,63}/g;

/** Ids of steps that stand anywhere in the texts of a value, whether as a reference or by chance. */
export function mentionedStepIds(
  value: unknown,
  ids: ReadonlyMap<string, number>,
  into = new Set<string>(),
): Set<string> {
  if (typeof value === "string") {
    for (const [word] of value.matchAll(WORD)) if (ids.has(word)) into.add(word);
  } else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) mentionedStepIds(inner, ids, into);
  }
  return into;
}

export interface TypeScopes {
  /** Enough for a step in which nothing is wrong: the steps that it mentions. */
  ofMentionedSteps(index: number, mentions: ReadonlySet<string>): TypeScope;
  /** With every step, for near matches. */
  ofAllSteps(index: number): TypeScope;
  /** For `output`, which sees them all. */
  ofOutput(): TypeScope;
}

/** @param seen the shape of `steps.<id>`, by position, as far as it is known */
export function typeScopes(
  steps: readonly ParsedStep[],
  order: StepOrder,
  inputs: Shape,
  seen: readonly (Shape | undefined)[],
): TypeScopes {
  const shapeAt = (index: number): Shape => seen[index] ?? ANY;
  // What comes before is not known where the graph is wrong: that is told, and nothing that follows from it.
  const mayRead = (index: number, other: number): boolean =>
    order.uncertain.has(index) || order.isAncestor(index, other);
  const scope = (readable: Record<string, Shape>, otherSteps: ReadonlySet<string>): TypeScope => ({
    inputs,
    run: RUN_SHAPE,
    steps: readable,
    otherSteps,
  });
  const among = (index: number, ids: Iterable<string>): TypeScope => {
    const readable: Record<string, Shape> = {};
    const others = new Set<string>();
    for (const id of ids) {
      if (id.startsWith("#")) continue;
      const other = order.position.get(id)!;
      if (mayRead(index, other) && other !== index) readable[id] = shapeAt(other);
      else others.add(id);
    }
    return scope(readable, others);
  };
  return {
    ofMentionedSteps: among,
    ofAllSteps: (index) => among(index, order.position.keys()),
    ofOutput: () => scope(Object.fromEntries(steps.map(({ id }, index) => [id, shapeAt(index)])), new Set()),
  };
}
