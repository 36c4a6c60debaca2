/** Checks the graph of the steps and finds an order to check them in, even if the graph has issues. */
import { nearMatch } from "../../../core/near-match.ts";
import { graphOf } from "../graph.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { LocatedIssue } from "./check-report.ts";

export interface StepOrder {
  issues: LocatedIssue[];
  /** Positions in topological order; the steps of cycles come last. */
  sorted: readonly number[];
  /** Positions in or after a cycle, or after a step that does not exist: their ancestors are not known. */
  uncertain: ReadonlySet<number>;
  /** Whether a step depends on another one, directly or not. */
  isAncestor(position: number, ancestor: number): boolean;
  /** Position by step id. */
  position: ReadonlyMap<string, number>;
}

export function orderSteps(steps: readonly ParsedStep[]): StepOrder {
  const issues: LocatedIssue[] = [];
  const position = new Map<string, number>();
  for (const [index, { id }] of steps.entries()) {
    const first = position.get(id);
    if (first === undefined) position.set(id, index);
    else
      issues.push({
        path: ["steps", index, "id"],
        code: "duplicate",
        message: `must be unique, but is also the id of steps[${first}]`,
        fix: "Change one of the two ids.",
      });
  }
  const edges = steps.map((step, index) => {
    const needs = intendedNeeds(step, index, position, issues);
    // The first of two steps with one id keeps it; the other still waits for the step before it.
    const id = position.get(step.id) === index ? step.id : `#${index}`;
    return { id, ...(needs && { needs }) };
  });
  const { needs, dependents } = graphOf(edges);
  const unmet = needs.map(({ length }) => length);
  const order = unmet.flatMap((count, index) => (count === 0 ? [index] : []));
  for (const next of order) {
    for (const dependent of dependents[next]!) {
      unmet[dependent]! -= 1;
      if (unmet[dependent] === 0) order.push(dependent);
    }
  }
  const cyclic = new Set(unmet.flatMap((count, index) => (count > 0 ? [index] : [])));
  issues.push(...cycles(steps, needs, cyclic));
  const isAncestor = ancestry(needs, order);
  const uncertain = new Set(cyclic);
  for (const index of order) {
    const hasUnknownNeed = (edges[index]!.needs?.length ?? 0) < lengthOf(steps[index]!.raw["needs"]);
    if (hasUnknownNeed || needs[index]!.some((need) => uncertain.has(need))) uncertain.add(index);
  }
  return { issues, sorted: [...order, ...cyclic], uncertain, isAncestor, position };
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Maximum number of searches for a near match: each compares an id with all others. */
const MAX_SUGGESTIONS = 25;

/** Returns the `needs` of a step. A near match replaces an unknown id, so that it causes no further issues. */
function intendedNeeds(
  { raw }: ParsedStep,
  index: number,
  position: ReadonlyMap<string, number>,
  issues: LocatedIssue[],
): string[] | undefined {
  const needs = raw["needs"];
  if (!Array.isArray(needs)) return undefined;
  const ids = Array.from(position.keys());
  const others = ids.filter((id) => !id.startsWith("#") && position.get(id) !== index);
  return needs.flatMap((id: unknown, place) => {
    if (typeof id !== "string") return [];
    if (position.has(id)) return [id];
    const near = issues.length < MAX_SUGGESTIONS ? nearMatch(id, others) : undefined;
    issues.push({
      path: ["steps", index, "needs", place],
      code: "unknown_step",
      message: `must be the id of a step, but there is no step ${id.slice(0, 100)}`,
      ...(others.length <= 50 && { allowed: others }),
      ...(near !== undefined && { did_you_mean: near }),
      fix: near === undefined ? "Write the id of a step of this workflow." : `Write ${near}.`,
    });
    return near === undefined ? [] : [near];
  });
}

/** Reports each cycle once, with its steps. */
function cycles(
  steps: readonly ParsedStep[],
  needs: readonly (readonly number[])[],
  cyclic: ReadonlySet<number>,
): LocatedIssue[] {
  const issues: LocatedIssue[] = [];
  const visited = new Set<number>();
  for (const from of cyclic) {
    const path: number[] = [];
    const onPath = new Set<number>();
    let current: number | undefined = from;
    while (current !== undefined && !visited.has(current)) {
      visited.add(current);
      onPath.add(current);
      path.push(current);
      // Each of these steps waits for another of them.
      current = needs[current]!.find((need) => cyclic.has(need) && (onPath.has(need) || !visited.has(need)));
    }
    if (current === undefined || !onPath.has(current)) continue;
    const cycle = path.slice(path.indexOf(current));
    const ids = [...cycle, current].map((index) => steps[index]!.id);
    const names = ids.length > 12 ? [...ids.slice(0, 6), "…", ...ids.slice(-5)] : ids;
    issues.push({
      path: "needs" in steps[current]!.raw ? ["steps", current, "needs"] : ["steps", current],
      code: "cycle",
      message: `must not wait for itself: ${names.join(" → ")}`,
      fix: "Remove one of these steps from the needs of the step before it.",
    });
  }
  return issues;
}

/** Computes which steps come before which, as one bit set for each of up to 2,000 steps. */
function ancestry(needs: readonly (readonly number[])[], order: readonly number[]): StepOrder["isAncestor"] {
  const words = Math.ceil(needs.length / 32);
  const rows = needs.map(() => new Uint32Array(words));
  for (const index of order) {
    const row = rows[index]!;
    for (const need of needs[index]!) {
      const needRow = rows[need]!;
      for (let word = 0; word < words; word += 1) row[word]! |= needRow[word]!;
      row[need >>> 5]! |= 1 << (need & 31);
    }
  }
  return (position, ancestor) => ((rows[position]![ancestor >>> 5]! >>> (ancestor & 31)) & 1) === 1;
}
