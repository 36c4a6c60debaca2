/**
 * Finds issues of a workflow that may be over as soon as the workflows that it runs are changed too: a server checks it
 * against their published versions.
 */
import type { Issue } from "../../../schemas/problem.ts";
import { calledWorkflowIds, workflowCalls } from "../../core/workflow-calls.ts";
import { type FileWorkflow, isUnchanged } from "../apply-target.ts";

type Pending = ReadonlyMap<string, FileWorkflow>;

/**
 * @param pending the workflows of the files, by id
 * @returns a function that says whether an issue concerns the inputs or the output of a workflow that is changed too
 */
export function dependsOnChanges(
  { content: { definition } }: FileWorkflow,
  pending: Pending,
): (issue: Issue) => boolean {
  const steps = Array.isArray(definition["steps"]) ? (definition["steps"] as unknown[]) : [];
  const calls = workflowCalls(definition).filter(({ workflow }) => isChanged(workflow, pending));
  const { on_failure: onFailure } = definition;
  const prefixes = calls
    .map(({ index }) => `steps[${index}].inputs`)
    .concat(typeof onFailure === "string" && isChanged(onFailure, pending) ? "on_failure" : []);
  const affected = affectedSteps(
    steps,
    calls.map(({ index }) => index),
  );
  return ({ path, message }) => {
    if (prefixes.some((prefix) => isWithin(prefix, path))) return true;
    const expression = /\(in `(.*)`/s.exec(message)?.[1];
    return expression !== undefined && affected.some((id) => reads(expression, id));
  };
}

const isWithin = (outer: string, path: string): boolean =>
  path.startsWith(outer) && ["", ".", "["].includes(path.charAt(outer.length));

/** Whether a workflow, or one that it runs, is new or changed. */
function isChanged(id: string, pending: Pending, visited = new Set<string>()): boolean {
  const workflow = pending.get(id);
  if (workflow === undefined || visited.has(id)) return false;
  visited.add(id);
  return (
    workflow.current === undefined ||
    !isUnchanged(workflow.current, workflow) ||
    calledWorkflowIds(workflow.content.definition).some((callee) => isChanged(callee, pending, visited))
  );
}

/** The ids of the steps with these indices, and of those that read what such a step returned. */
function affectedSteps(steps: readonly unknown[], indices: readonly number[]): string[] {
  const affected: string[] = [];
  for (const [index, step] of steps.entries()) {
    const { id } = (step ?? {}) as { id?: unknown };
    if (typeof id !== "string") continue;
    const text = JSON.stringify(step);
    if (indices.includes(index) || affected.some((other) => reads(text, other))) affected.push(id);
  }
  return affected;
}

/** Whether a text, such as an expression, reads the output of a step. */
const reads = (text: string, id: string): boolean =>
  text.split(/[^\w.]/).some((word) => `${word}.`.includes(`steps.${id}.`));
