/** Fixes of the order of steps: a need that is missing, a step that comes too late, a need that makes a cycle. */
import type { PatchOperation } from "../../../core/json-patch.ts";
import { ancestorsOf, graphOf } from "../graph.ts";
import type { LocatedIssue } from "../check/check-report.ts";
import type { FixContext } from "./index.ts";

/** Maximum number of steps of a definition whose order is tried out: each trial computes all ancestors. */
const MAX_STEPS = 200;
/** Maximum number of moves that are tried for one cycle. */
const MAX_MOVES = 200;

type Fix = Pick<LocatedIssue, "fix" | "patch">;

export function orderFix(
  { code, path: [first, index], subject }: LocatedIssue,
  { steps }: FixContext,
): Fix | undefined {
  if (first !== "steps" || typeof index !== "number" || steps.length > MAX_STEPS) return undefined;
  const nodes = steps.map(nodeOf);
  if (code === "cycle") return cycleFix(nodes);
  const other = code === "not_an_ancestor" ? nodes.findIndex(({ id }) => id === subject) : -1;
  return other < 0 ? undefined : ancestorFix(nodes, index, other);
}

interface Node {
  id: string;
  needs?: string[];
  reads: ReadonlySet<string>;
}

const STEP_REFERENCE = /\bsteps(?:\.([a-z]\w*)|\[["']([a-z]\w*)["']\])/g;

function nodeOf({ id, raw }: FixContext["steps"][number]): Node {
  const { needs } = raw;
  const text = JSON.stringify(raw).replaceAll(String.raw`\"`, '"');
  return {
    id,
    ...(Array.isArray(needs) && { needs: needs.filter((need) => typeof need === "string") }),
    reads: new Set(Array.from(text.matchAll(STEP_REFERENCE), ([, name, quoted]) => (name ?? quoted)!)),
  };
}

/** Counts the steps in cycles, and the reads of steps that are not ancestors. */
function problemsOf(nodes: readonly Node[]): { cyclic: number[]; unmet: number } {
  const graph = graphOf(nodes);
  const position = new Map(nodes.map(({ id }, index) => [id, index]));
  const cyclic: number[] = [];
  let unmet = 0;
  for (const [index, { reads }] of nodes.entries()) {
    const ancestors = ancestorsOf(graph, index);
    if (ancestors.has(index)) cyclic.push(index);
    for (const id of reads) if (position.has(id) && !ancestors.has(position.get(id)!)) unmet += 1;
  }
  return { cyclic, unmet };
}

interface Change {
  nodes: readonly Node[];
  fix: string;
  patch: PatchOperation[];
}

/** Makes a step wait for another one that it reads: by a need, or by moving one of them. */
function ancestorFix(nodes: readonly Node[], index: number, other: number): Fix | undefined {
  const before = problemsOf(nodes);
  const changes = [
    withNeed(nodes, index, other),
    withMove(nodes, index, other),
    withMove(nodes, other, index),
  ];
  const right = changes.find((change) => {
    const after = problemsOf(change.nodes);
    return after.cyclic.length === 0 && after.unmet < before.unmet;
  });
  if (right !== undefined) return { fix: right.fix, patch: right.patch };
  const [reader, read] = [nodes[index]!.id, nodes[other]!.id];
  return {
    fix: `${read} waits for ${reader} itself, so ${reader} can't read it. Read another step, or change what ${read} needs.`,
  };
}

/** The step before it in the list stays a need, although it was only implied. */
function withNeed(nodes: readonly Node[], index: number, other: number): Change {
  const node = nodes[index]!;
  const { id } = nodes[other]!;
  const previous = nodes[index - 1]?.id;
  const needs = [...(node.needs ?? (previous === undefined ? [] : [previous])), id];
  const path = ["steps", index, "needs"];
  return {
    nodes: nodes.with(index, { ...node, needs }),
    fix: `Write needs: [${needs.join(", ")}].`,
    patch: [{ op: node.needs === undefined ? "add" : "replace", path, value: needs }],
  };
}

/** Moves a step to the place of another one. */
function withMove(nodes: readonly Node[], from: number, to: number): Change {
  const node = nodes[from]!;
  return {
    nodes: nodes.toSpliced(from, 1).toSpliced(to, 0, node),
    fix: `Move the step ${node.id} ${from < to ? "after" : "before"} the step ${nodes[to]!.id}.`,
    patch: [{ op: "move", from: ["steps", from], path: ["steps", to] }],
  };
}

/** Ends a cycle by a move that keeps all needs, or by removing the only need that nothing reads. */
function cycleFix(nodes: readonly Node[]): Fix | undefined {
  const before = problemsOf(nodes);
  const isBetter = ({ nodes: changed }: Change): boolean => {
    const after = problemsOf(changed);
    return after.cyclic.length < before.cyclic.length && after.unmet <= before.unmet;
  };
  const moves = before.cyclic
    .flatMap((from) => before.cyclic.filter((to) => to !== from).map((to) => withMove(nodes, from, to)))
    .slice(0, MAX_MOVES);
  const removals = before.cyclic.flatMap((index) => removalsAt(nodes, index)).filter(isBetter);
  const right = moves.find(isBetter) ?? (removals.length === 1 ? removals[0] : undefined);
  return right && { fix: right.fix, patch: right.patch };
}

const removalsAt = (nodes: readonly Node[], index: number): Change[] =>
  (nodes[index]!.needs ?? []).map((need, place) => {
    const node = nodes[index]!;
    return {
      nodes: nodes.with(index, { ...node, needs: node.needs!.toSpliced(place, 1) }),
      fix: `Remove ${need} from the needs of ${node.id}, which reads nothing of it.`,
      patch: [{ op: "remove", path: ["steps", index, "needs", place] }],
    };
  });

/** Renames the second of two steps with one id, unless something reads or needs one of them. */
export function duplicateIdFix(
  { code, path }: LocatedIssue,
  { steps, written }: FixContext,
): Fix | undefined {
  const [first, index, field] = path;
  if (code !== "duplicate" || first !== "steps" || field !== "id" || typeof index !== "number")
    return undefined;
  const { id } = steps[index]!;
  const nodes = steps.map(nodeOf);
  const isUsed =
    nodes.some(({ needs = [], reads }) => needs.includes(id) || reads.has(id)) ||
    new RegExp(String.raw`\bsteps\W+${id}\b`).test(JSON.stringify(written["output"] ?? null));
  if (isUsed) return undefined;
  const ids = new Set(nodes.map((node) => node.id));
  let count = 2;
  while (ids.has(`${id}_${count}`)) count += 1;
  return {
    fix: `Write ${id}_${count}.`,
    patch: [{ op: "replace", path, value: `${id}_${count}` }],
  };
}
