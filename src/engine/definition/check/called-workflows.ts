/**
 * Looks up the workflows that a definition runs, and those that they run in turn: their inputs, their outputs, and whether
 * they can run. The definition at hand stands for its own workflow, because it is about to become its newest version.
 */
import type { Issue } from "../../../../schemas/problem.ts";
import type { WorkflowStatus } from "../../../../schemas/workflow.ts";
import { shapeOfSchema, schemaIssues } from "../../../core/json-schema/index.ts";
import type { CheckOptions, Unavailable } from "../../../core/engine-port.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { CalledWorkflow } from "../../../core/step-type.ts";
import { calledWorkflowIds, workflowCalls } from "../../../core/workflow-calls.ts";
import { isAllowedInSaved, type LocatedIssue } from "./check-report.ts";

type Definition = Readonly<Record<string, unknown>>;

/** A workflow with the definition that its callers run. */
interface StoredWorkflow {
  status: WorkflowStatus;
  definition: Record<string, unknown> | null;
  /** Whether another project offers it: callers know its contract, not what it does. */
  isForeign?: true;
  /** Why it can't run, besides what its status and definition say. */
  unavailable?: Unavailable;
}

export interface WorkflowLookup {
  /** Returns a workflow with its published version, or with its newest if none is published. */
  find(id: string): Promise<StoredWorkflow | undefined>;
  /** Returns the ids of workflows, to find a near match. */
  ids(): Promise<string[]>;
}

/** The workflows as the options of a check assume them. */
export const withAssumed = (
  lookup: WorkflowLookup,
  { asPublished, unavailable }: Pick<CheckOptions, "asPublished" | "unavailable">,
): WorkflowLookup =>
  asPublished === undefined && unavailable === undefined
    ? lookup
    : {
        ...lookup,
        async find(id) {
          const found = await lookup.find(id);
          const definition = asPublished?.get(id);
          const reason = unavailable?.get(id);
          return (
            found && {
              ...found,
              ...(definition !== undefined && { status: "published", definition }),
              ...(reason !== undefined && { unavailable: reason }),
            }
          );
        },
      };

/** The workflows that one definition runs, as far as they exist. */
export interface CalledWorkflows {
  find(id: string): CalledWorkflow | undefined;
  ids(): Promise<string[]>;
}

/** The workflows that were looked up for one check, by id; those of all levels share it. */
export type CallGraph = Map<
  string,
  {
    called: CalledWorkflow | undefined;
    definition: Definition | null;
    /** Whether its check has not ended yet. */
    pending: boolean;
  }
>;

/** Maximum number of workflows that are checked because a definition runs them, on all levels. */
const MAX_CHECKED = 200;

interface Options {
  lookup: WorkflowLookup;
  graph: CallGraph;
  /** Checks the definition of a called workflow. */
  check(definition: Record<string, unknown>, id: string): Promise<{ errors: Issue[]; output_shape: Shape }>;
}

/** @param selfId the workflow that the definition belongs to; undefined for a new one */
export async function calledWorkflows(
  definition: Definition,
  selfId: string | undefined,
  { lookup, graph, check }: Options,
): Promise<CalledWorkflows & { recursionIssues(): LocatedIssue[] }> {
  if (selfId !== undefined) graph.set(selfId, { called: contractOf(definition), definition, pending: true });
  for (const id of calledWorkflowIds(definition)) {
    if (graph.has(id)) continue;
    const found = await lookup.find(id);
    const called = found && (found.definition === null ? NO_CONTRACT : contractOf(found.definition));
    // A workflow on the path that leads back here is not checked again.
    const entry = {
      called,
      definition: found?.isForeign === true ? null : (found?.definition ?? null),
      pending: true,
    };
    graph.set(id, entry);
    if (found !== undefined) entry.called = await checked(id, found, called!);
    graph.set(id, { ...entry, pending: false });
  }

  async function checked(
    id: string,
    found: StoredWorkflow,
    contract: CalledWorkflow,
  ): Promise<CalledWorkflow> {
    const obstacle = obstacleOf(id, found);
    if (obstacle !== undefined) return { ...contract, obstacle };
    // A workflow of another project was checked there, with what that project can use.
    if (found.definition === null || found.isForeign === true || graph.size > MAX_CHECKED) return contract;
    const { errors: issues, output_shape: output } = await check(found.definition, id);
    const errors = issues.filter((issue) => !isAllowedInSaved(issue));
    return { inputs: contract.inputs, output, ...(errors.length > 0 && { obstacle: faulty(id, errors) }) };
  }

  return {
    find: (id) => graph.get(id)?.called,
    ids: () => lookup.ids(),
    recursionIssues: () => (selfId === undefined ? [] : recursionIssues(definition, selfId, graph)),
  };
}

const NO_CONTRACT: CalledWorkflow = { inputs: null, output: ANY };

/** What a definition says itself about its inputs and its output. */
function contractOf({ inputs, output_schema: schema }: Definition): CalledWorkflow {
  return {
    inputs: isObject(inputs) ? inputs : null,
    output: isObject(schema) && schemaIssues(schema).length === 0 ? shapeOfSchema(schema) : ANY,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function obstacleOf(
  id: string,
  { status, definition, unavailable }: StoredWorkflow,
): CalledWorkflow["obstacle"] {
  if (unavailable !== undefined) return unavailable;
  if (status === "archived")
    return {
      code: "workflow_archived",
      message: `must be a workflow that can run, but ${id} is archived`,
      fix: `Restore it (POST /workflows/${id}/restore), or choose another workflow.`,
    };
  if (definition !== null) return undefined;
  return {
    code: "workflow_not_runnable",
    message: `must be a workflow that can run, but ${id} has no definition`,
    fix: "Add one with update_workflow, or choose another workflow.",
  };
}

const faulty = (
  id: string,
  [first, ...others]: readonly Issue[],
): NonNullable<CalledWorkflow["obstacle"]> => ({
  code: "workflow_not_runnable",
  message:
    `must be a workflow that can run, but ${id} has ${others.length === 0 ? "an issue" : `${others.length + 1} issues`}: ` +
    `${first!.path === "" ? "the definition" : first!.path} ${first!.message}`,
  fix: `Fix ${id} first: validate_workflow lists its issues.`,
});

/** Reports the steps by which the workflow runs itself in every run, directly or through others: no run could end well. */
function recursionIssues(definition: Definition, selfId: string, graph: CallGraph): LocatedIssue[] {
  return workflowCalls(definition).flatMap(({ index, workflow, unconditional }) => {
    const path = unconditional ? pathTo(selfId, workflow, graph) : undefined;
    if (path === undefined) return [];
    return [
      {
        path: ["steps", index, "workflow"],
        code: "endless_recursion",
        message: `must not run its own workflow in every run: ${[selfId, ...path].join(" → ")}`,
        fix: "Add an if that ends the recursion to this step, or run another workflow.",
      },
    ];
  });
}

/** The ids from one workflow to another by calls that every run makes; undefined if there is no such path. */
function pathTo(target: string, from: string, graph: CallGraph): string[] | undefined {
  const visited = new Set<string>();
  const search = (id: string): string[] | undefined => {
    if (id === target) return [id];
    const { definition, pending } = graph.get(id) ?? { definition: null, pending: false };
    // A cycle through a caller that is itself being checked is reported there.
    if (visited.has(id) || pending) return undefined;
    visited.add(id);
    for (const { workflow, unconditional } of definition ? workflowCalls(definition) : []) {
      const rest = unconditional ? search(workflow) : undefined;
      if (rest !== undefined) return [id, ...rest];
    }
    return undefined;
  };
  return search(from);
}
