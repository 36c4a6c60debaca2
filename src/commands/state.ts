/** `millrace state`: what the state of a workflow holds, its history, and changing it with a reason. */
import type { StateChange, WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { getWorkflowState } from "../../tools/workflow-state/get-workflow-state.ts";
import { listStateChanges } from "../../tools/workflow-state/list-state-changes.ts";
import { resetWorkflowState } from "../../tools/workflow-state/reset-workflow-state.ts";
import { setWorkflowState } from "../../tools/workflow-state/set-workflow-state.ts";
import { jsonOrText } from "./inputs.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { printJson } from "./project-output.ts";

/** Shows the values that the next run reads. */
export async function showState(io: Io, workflow: string, { json }: { json?: boolean }): Promise<void> {
  const state = await withOperator(io, { requiresStateFor: "show a state of" }, ({ call }) =>
    call<WorkflowStateContent>(getWorkflowState, { workflow_id: workflow }),
  );
  if (json) return printJson(io, state);
  printState(io, state);
}

function printState(
  io: Io,
  { values, revision, updated_at: at, updated_by: by }: WorkflowStateContent,
): void {
  for (const [key, value] of Object.entries(values))
    io.out(`${paint(io).bold(key)} = ${JSON.stringify(value)}\n`);
  io.out(
    paint(io).dim(
      at === null
        ? "Never written: these are the defaults.\n"
        : `Revision ${revision}, written ${at} by ${by}\n`,
    ),
  );
}

/** Lists the newest changes. */
export async function showStateHistory(
  io: Io,
  workflow: string,
  { limit, json }: { limit: number; json?: boolean },
): Promise<void> {
  const { items } = await withOperator(io, { requiresStateFor: "list changes of" }, ({ call }) =>
    call<{ items: StateChange[] }>(listStateChanges, { workflow_id: workflow, limit }),
  );
  if (json) return printJson(io, items);
  if (items.length === 0) return io.out(`The state of ${workflow} has not changed yet.\n`);
  const { bold, red, green, dim } = paint(io);
  for (const { revision, kind, at, by, key_name: key, reason, changes } of items) {
    io.out(`${bold(`Revision ${revision}`)}  ${kind} ${at} by ${by}${key === null ? "" : ` (${key})`}\n`);
    if (reason !== null) io.out(`  ${reason}\n`);
    for (const { key: name, ...values } of changes) {
      if ("before" in values) io.out(red(`  - ${name} = ${JSON.stringify(values.before)}\n`));
      io.out(
        "after" in values
          ? green(`  + ${name} = ${JSON.stringify(values.after)}\n`)
          : dim(`  + ${name}: its default\n`),
      );
    }
  }
}

/** Sets keys; the others keep their values. It is refused if a run or somebody else writes the state meanwhile. */
export async function setState(
  io: Io,
  workflow: string,
  assignments: readonly string[],
  { reason }: { reason: string },
): Promise<void> {
  const changed = Object.fromEntries(assignments.map(parseAssignment));
  const state = await withOperator(io, {}, async ({ call }) => {
    const current = await call<WorkflowStateContent>(getWorkflowState, { workflow_id: workflow });
    return call<WorkflowStateContent>(setWorkflowState, {
      workflow_id: workflow,
      values: { ...current.values, ...changed },
      reason,
      if_match: current.revision,
    });
  });
  printState(io, state);
}

/** Gives keys their defaults again: all, if none is named. */
export async function resetState(
  io: Io,
  workflow: string,
  keys: readonly string[],
  { reason }: { reason: string },
): Promise<void> {
  const state = await withOperator(io, {}, async ({ call }) => {
    const { revision } = await call<WorkflowStateContent>(getWorkflowState, { workflow_id: workflow });
    return call<WorkflowStateContent>(resetWorkflowState, {
      workflow_id: workflow,
      reason,
      ...(keys.length > 0 && { keys }),
      if_match: revision,
    });
  });
  printState(io, state);
}

/** Reads `name=value`: the value is JSON, else text. */
function parseAssignment(assignment: string): [string, unknown] {
  const at = assignment.indexOf("=");
  if (at < 1)
    throw new CommandError(`Write each key as name=value, got ${JSON.stringify(assignment)}.`, EXIT.usage);
  const name = assignment.slice(0, at);
  return [name, jsonOrText(assignment.slice(at + 1), name)];
}
