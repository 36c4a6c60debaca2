/** The graph of steps that may be faulty: who waits for whom, in which order they can be looked at, what is wrong. */
import { nearMatch } from "../../../core/near-match.ts";
import { graphOf } from "../graph.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { LocatedIssue } from "./check-report.ts";

export interface StepOrder {
  issues: LocatedIssue[];
  /** Positions so that each comes after those it waits for; those of cycles stand at the end. */
  sorted: readonly number[];
  /** Positions in or after a cycle, or after what is not there: nobody knows all that comes before them. */
  uncertain: ReadonlySet<number>;
  isAncestor(of: number, which: number): boolean;
  /** The position of an id. */
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
        message: `is the id of steps[${first}] too: ids must be unique`,
        fix: "Give one of them another id.",
      });
  }
  const edges = steps.map((step, index) => {
    const needs = needsAsMeant(step, index, position, issues);
    // Of two with one id the first has it; the other still comes after the step before it.
    const id = position.get(step.id) === index ? step.id : `#${index}`;
    return { id, ...(needs && { needs }) };
  });
  const { needs, dependents } = graphOf(edges);
  const left = needs.map((it) => it.length);
  const order = left.flatMap((count, index) => (count === 0 ? [index] : []));
  for (const next of order) {
    for (const after of dependents[next]!) {
      left[after]! -= 1;
      if (left[after] === 0) order.push(after);
    }
  }
  const tangled = new Set(left.flatMap((count, index) => (count > 0 ? [index] : [])));
  issues.push(...cycles(steps, needs, tangled));
  const isAncestor = ancestry(needs, order);
  const uncertain = new Set(tangled);
  for (const index of order) {
    const lost = (edges[index]!.needs?.length ?? 0) < lengthOf(steps[index]!.raw["needs"]);
    if (lost || needs[index]!.some((it) => uncertain.has(it))) uncertain.add(index);
  }
  return { issues, sorted: [...order, ...tangled], uncertain, isAncestor, position };
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** For so many what was meant is looked for: each is held against all ids. */
const MOST_MEANT = 25;

/** The ids it waits for; a wrong one counts as the one that was meant, so that it is told once and not again. */
function needsAsMeant(
  { raw }: ParsedStep,
  index: number,
  position: ReadonlyMap<string, number>,
  issues: LocatedIssue[],
): string[] | undefined {
  const needs = raw["needs"];
  if (!Array.isArray(needs)) return undefined;
  const ids = Array.from(position.keys());
  const others = ids.filter((it) => !it.startsWith("#") && position.get(it) !== index);
  return needs.flatMap((id: unknown, place) => {
    if (typeof id !== "string") return [];
    if (position.has(id)) return [id];
    const near = issues.length < MOST_MEANT ? nearMatch(id, others) : undefined;
    issues.push({
      path: ["steps", index, "needs", place],
      code: "unknown_step",
      message: `there is no step ${id.slice(0, 100)}`,
      ...(others.length <= 50 && { allowed: others }),
      ...(near !== undefined && { did_you_mean: near }),
      fix: near === undefined ? "Leave it out, or name a step of this workflow." : `Write ${near}.`,
    });
    return near === undefined ? [] : [near];
  });
}

/** One fault for each cycle, with the way around it. */
function cycles(
  steps: readonly ParsedStep[],
  needs: readonly (readonly number[])[],
  tangled: ReadonlySet<number>,
): LocatedIssue[] {
  const issues: LocatedIssue[] = [];
  const seen = new Set<number>();
  for (const from of tangled) {
    const way: number[] = [];
    const onWay = new Set<number>();
    let here: number | undefined = from;
    while (here !== undefined && !seen.has(here)) {
      seen.add(here);
      onWay.add(here);
      way.push(here);
      // Each of these waits for another of them, or it would not be here.
      here = needs[here]!.find((it) => tangled.has(it) && (onWay.has(it) || !seen.has(it)));
    }
    if (here === undefined || !onWay.has(here)) continue;
    const cycle = way.slice(way.indexOf(here));
    const shown = [...cycle, here].map((it) => steps[it]!.id);
    const names = shown.length > 12 ? [...shown.slice(0, 6), "…", ...shown.slice(-5)] : shown;
    issues.push({
      path: "needs" in steps[here]!.raw ? ["steps", here, "needs"] : ["steps", here],
      code: "cycle",
      message: `waits for itself: ${names.join(" → ")}`,
      fix: "Take one of these out of the needs of the step before it.",
    });
  }
  return issues;
}

/** Whether one step comes before another: a row of bits for each, as there are up to 2,000. */
function ancestry(needs: readonly (readonly number[])[], order: readonly number[]): StepOrder["isAncestor"] {
  const words = Math.ceil(needs.length / 32);
  const rows = needs.map(() => new Uint32Array(words));
  for (const index of order) {
    const row = rows[index]!;
    for (const before of needs[index]!) {
      const other = rows[before]!;
      for (let word = 0; word < words; word += 1) row[word]! |= other[word]!;
      row[before >>> 5]! |= 1 << (before & 31);
    }
  }
  return (of, which) => ((rows[of]![which >>> 5]! >>> (which & 31)) & 1) === 1;
}
