/**
 * Folds a large graph: steps in a row, and steps beside each other that need the same steps and are needed by the same ones, become
 * one card. Steps of one card have the same status, and none of them needs attention.
 */
import type { GraphStep } from "./steps.ts";

/** Minimum number of steps that become one card. */
const MIN_FOLDED = 3;

const NEED_ATTENTION: ReadonlySet<GraphStep["status"]> = new Set(["failed", "running", "waiting"]);

/**
 * @param kept the ids of steps that keep a card of their own
 * @returns the steps to draw; those that stand for several have `folded`
 */
export function foldSteps(steps: readonly GraphStep[], kept: ReadonlySet<string>): GraphStep[] {
  const inRows = rows(steps, kept);
  const rest = besides(steps, new Set([...kept, ...inRows.flat().map(({ id }) => id)]));
  const cardOf = new Map<string, string>();
  const folded = new Map<string, GraphStep[]>();
  for (const group of [...inRows, ...rest]) {
    const first = group[0]!.id;
    // No id of a step has this character.
    const card = `${first}…${group.at(-1)!.id}`;
    folded.set(first, group);
    for (const { id } of group) cardOf.set(id, card);
  }
  return steps.flatMap((step) => {
    const card = cardOf.get(step.id);
    if (card === undefined) return [withNeeds(step, cardOf)];
    const group = folded.get(step.id);
    return group === undefined ? [] : [cardFor(card, group, cardOf)];
  });
}

function cardFor(id: string, group: readonly GraphStep[], cardOf: ReadonlyMap<string, string>): GraphStep {
  const [first] = group;
  return {
    id,
    name: `${group.length} steps`,
    type: `${first!.id} to ${group.at(-1)!.id}`,
    needs: needsOf(first!, cardOf).filter((need) => need !== id),
    folded: group.map((step) => step.id),
    ...(first!.status !== undefined && { status: first!.status }),
  };
}

const withNeeds = (step: GraphStep, cardOf: ReadonlyMap<string, string>): GraphStep =>
  step.needs.some((id) => cardOf.has(id)) ? { ...step, needs: needsOf(step, cardOf) } : step;

const needsOf = ({ needs }: GraphStep, cardOf: ReadonlyMap<string, string>): string[] => [
  ...new Set(needs.map((id) => cardOf.get(id) ?? id)),
];

const isFoldable = ({ id, status, progress }: GraphStep, kept: ReadonlySet<string>): boolean =>
  !kept.has(id) && !NEED_ATTENTION.has(status) && (progress?.failed ?? 0) === 0;

/** The ids of the steps that need each step. */
function dependentsOf(steps: readonly GraphStep[]): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>(steps.map(({ id }) => [id, []]));
  for (const { id, needs } of steps) for (const need of needs) dependents.get(need)?.push(id);
  return dependents;
}

/** The longest rows of steps of which each needs the one before alone, and is alone in that. */
function rows(steps: readonly GraphStep[], kept: ReadonlySet<string>): GraphStep[][] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const dependents = dependentsOf(steps);
  const followerOf = (step: GraphStep): GraphStep | undefined => {
    const [id, ...others] = dependents.get(step.id) ?? [];
    const next = id === undefined || others.length > 0 ? undefined : byId.get(id);
    const follows =
      next?.needs.length === 1 &&
      next.status === step.status &&
      isFoldable(step, kept) &&
      isFoldable(next, kept);
    return follows ? next : undefined;
  };
  const followers = new Set(steps.map((step) => followerOf(step)?.id));
  const found: GraphStep[][] = [];
  // A circle of needs, which is invalid, has no first step and is not folded.
  for (const step of steps) {
    if (followers.has(step.id)) continue;
    const row = [step];
    for (let next = followerOf(step); next !== undefined; next = followerOf(next)) row.push(next);
    if (row.length >= MIN_FOLDED) found.push(row);
  }
  return found;
}

/** The steps that need the same steps and are needed by the same ones. */
function besides(steps: readonly GraphStep[], kept: ReadonlySet<string>): GraphStep[][] {
  const dependents = dependentsOf(steps);
  const groups = Map.groupBy(
    steps.filter((step) => isFoldable(step, kept)),
    ({ id, needs, status = "" }) =>
      JSON.stringify([needs.toSorted(), dependents.get(id)!.toSorted(), status]),
  );
  return [...groups.values()].filter((group) => group.length >= MIN_FOLDED);
}
