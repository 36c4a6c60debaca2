/** Collapses parts of a large graph to one card each: steps beside each other that are alike, and steps in sequence. */
import * as texts from "#texts/graph";
import type { StepStatus } from "../../../schemas/run-status.ts";
import type { GraphStep } from "./steps.ts";

/** Minimum number of steps of a group: fewer are easier to read as they are. */
const MIN_MEMBERS = 4;

interface StepGroup {
  /** The id of its card, which no step has. */
  id: string;
  kind: "parallel" | "sequence";
  /** The ids of its steps, in the order of the definition. */
  members: readonly string[];
}

/**
 * Finds the groups of a graph: steps of one type that need the same steps and are needed by the same ones, and chains in
 * which each step needs only the one before. A step is in at most one group.
 */
export function findGroups(steps: readonly GraphStep[]): StepGroup[] {
  const dependents = dependentsOf(steps);
  const parallel = parallelGroups(steps, dependents);
  const grouped = new Set(parallel.flatMap(({ members }) => members));
  return [
    ...parallel,
    ...sequences(
      steps.filter(({ id }) => !grouped.has(id)),
      dependents,
    ),
  ];
}

type Dependents = ReadonlyMap<string, readonly string[]>;

function dependentsOf(steps: readonly GraphStep[]): Dependents {
  const dependents = new Map<string, string[]>(steps.map(({ id }) => [id, []]));
  for (const { id, needs } of steps) for (const needed of needs) dependents.get(needed)?.push(id);
  return dependents;
}

function parallelGroups(steps: readonly GraphStep[], dependents: Dependents): StepGroup[] {
  const alike = Map.groupBy(steps, ({ id, type, needs }) =>
    JSON.stringify([type, needs.toSorted(), dependents.get(id)]),
  );
  return [...alike.values()].flatMap((members) => groupOf("parallel", members));
}

function sequences(steps: readonly GraphStep[], dependents: Dependents): StepGroup[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const follower = (id: string): GraphStep | undefined => {
    const [only, another] = dependents.get(id) ?? [];
    const next = another === undefined && only !== undefined ? byId.get(only) : undefined;
    return next?.needs.length === 1 ? next : undefined;
  };
  const followers = new Set(steps.map(({ id }) => follower(id)?.id));
  return steps
    .filter(({ id }) => !followers.has(id))
    .flatMap((first) => {
      const chain = [first];
      for (let next = follower(first.id); next !== undefined; next = follower(next.id)) chain.push(next);
      return groupOf("sequence", chain);
    });
}

const groupOf = (kind: StepGroup["kind"], steps: readonly GraphStep[]): StepGroup[] =>
  steps.length < MIN_MEMBERS
    ? []
    : [{ id: `group ${steps[0]!.id}`, kind, members: steps.map(({ id }) => id) }];

/** The steps to draw, with one in place of each group, at the place of its first step. */
export function collapse(steps: readonly GraphStep[], groups: readonly StepGroup[]): GraphStep[] {
  if (groups.length === 0) return [...steps];
  const byId = new Map(steps.map((step) => [step.id, step]));
  const groupOfStep = new Map(groups.flatMap((group) => group.members.map((id) => [id, group] as const)));
  const cardOf = (id: string): string => groupOfStep.get(id)?.id ?? id;
  const needsOf = (members: readonly GraphStep[], card: string): string[] =>
    [...new Set(members.flatMap(({ needs }) => needs.map(cardOf)))].filter((id) => id !== card);
  return steps.flatMap((step): GraphStep[] => {
    const group = groupOfStep.get(step.id);
    if (group === undefined) return [{ ...step, needs: needsOf([step], step.id) }];
    if (group.members[0] !== step.id) return [];
    const members = group.members.map((id) => byId.get(id)!);
    const status = worstStatus(members);
    return [
      {
        id: group.id,
        type: step.type,
        name: texts.groupName({ kind: group.kind, count: members.length }),
        needs: needsOf(members, group.id),
        group: {
          from: step.id,
          to: members.at(-1)!.id,
          types: [...new Set(members.map(({ type }) => type))],
        },
        ...(status !== undefined && { status }),
      },
    ];
  });
}

/** What a person must see first. */
const BY_URGENCY: readonly StepStatus[] = [
  "failed",
  "waiting",
  "running",
  "cancelled",
  "pending",
  "succeeded",
  "skipped",
];

const worstStatus = (steps: readonly GraphStep[]): StepStatus | undefined =>
  BY_URGENCY.find((status) => steps.some((step) => step.status === status));
