/** Published workflows with `expose_as_tool` as MCP tools of their own; a call executes `run_workflow`. */
import { createHash } from "node:crypto";
import type { ExposedWorkflow, WorkflowReader } from "../../core/ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { ListedTool } from "./tool-list.ts";

/** Maximum number of exposed workflows, because many clients support only about 128 tools. The oldest are listed. */
const MAX_EXPOSED = 50;
/** Maximum length of a tool's name, in characters. */
const MAX_NAME = 64;
/** Maximum length of a tool's description, in characters. */
const MAX_DESCRIPTION = 1_000;
/** Maximum size of an input schema, in characters of JSON. A larger one is listed as an open object, to save tokens. */
const MAX_SCHEMA = 8_192;

/** Ids that can be part of a tool's name. The names of others end in a hash, so that they are unique. */
const PLAIN_ID = /^[a-z0-9-]{1,60}$/;

export interface ExposedTools {
  tools: readonly ListedTool[];
  /** The workflow's id by the tool's name. */
  workflowIds: ReadonlyMap<string, string>;
}

const NONE: ExposedTools = { tools: [], workflowIds: new Map() };

/**
 * Creates a function that returns the exposed workflows; the list is computed again when a workflow has changed.
 * @param runWorkflow the listed run_workflow tool; without it nothing is exposed
 * @param reservedNames the names of other tools
 */
export function exposedWorkflows(
  workflows: Pick<WorkflowReader, "exposedAsTools" | "revision">,
  stepTypes: readonly AnyStepType[],
  runWorkflow: ListedTool | undefined,
  reservedNames: ReadonlySet<string>,
): () => Promise<ExposedTools> {
  if (runWorkflow === undefined) return async () => NONE;
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  let cached: { revision: number; exposed: ExposedTools } | undefined;
  return async () => {
    // Read before the rows: if one changes in between, the next call reads them again.
    const revision = await workflows.revision();
    if (cached?.revision !== revision) {
      const rows = await workflows.exposedAsTools(MAX_EXPOSED);
      const listed = rows.map(
        (workflow) => [workflow.id, toolOf(workflow, types, runWorkflow, reservedNames)] as const,
      );
      const exposed = {
        tools: listed.map(([, tool]) => tool),
        workflowIds: new Map(listed.map(([id, { name }]) => [name, id])),
      };
      cached = { revision, exposed };
    }
    return cached.exposed;
  };
}

function toolOf(
  { id, name: title, description, definition }: ExposedWorkflow,
  stepTypes: ReadonlyMap<string, AnyStepType>,
  runWorkflow: ListedTool,
  reservedNames: ReadonlySet<string>,
): ListedTool {
  const steps = definition["steps"] as { id: string; type: string }[];
  const hasEffects = steps.some((step) => stepTypes.get(step.type)?.hasEffects(step) ?? true);
  const summary = description.trim();
  return {
    name: nameOf(id, reservedNames),
    title,
    description: `${summary === "" ? title : summary.slice(0, MAX_DESCRIPTION).toWellFormed()}\n\nRuns the workflow ${id} and waits for it, as run_workflow does.`,
    inputSchema: inputsOf(id, definition["inputs"] as Record<string, unknown> | undefined),
    outputSchema: runWorkflow.outputSchema,
    annotations: {
      title,
      readOnlyHint: !hasEffects,
      destructiveHint: hasEffects,
      idempotentHint: !hasEffects,
      openWorldHint: true,
    },
  };
}

function nameOf(id: string, reservedNames: ReadonlySet<string>): string {
  const name = `run_${id.replaceAll(/[^A-Za-z0-9]/g, "_")}`;
  if (PLAIN_ID.test(id) && !reservedNames.has(name)) return name;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME - 9)}_${hash}`;
}

function inputsOf(id: string, inputs: Record<string, unknown> | undefined): ListedTool["inputSchema"] {
  if (inputs === undefined) return { type: "object", properties: {}, additionalProperties: false };
  const { $schema: _, ...schema } = inputs;
  if (JSON.stringify(schema).length <= MAX_SCHEMA) return { ...schema, type: "object" };
  return {
    type: "object",
    description: `The workflow's inputs, as its definition declares them (get_workflow ${id}).`,
  };
}
