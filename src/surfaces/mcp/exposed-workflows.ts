/** Published workflows that ask for it (`expose_as_tool`) as tools of their own; calling one is `run_workflow`. */
import { createHash } from "node:crypto";
import type { ExposedWorkflow, WorkflowReader } from "../../core/ports.ts";
import type { AnyStepType } from "../../core/step-type.ts";
import type { ListedTool } from "./tool-list.ts";

/** More would drown the others: clients take 128 tools or so in all. The oldest are shown. */
const MOST_EXPOSED = 50;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_000;
/** Inputs whose schema is larger, in characters of JSON, are an open object: every byte is read by a model. */
const MAX_SCHEMA = 8_192;

/** An id whose tool is named after it; those of others end in a hash, so that no two share a name. */
const PLAIN_ID = /^[a-z0-9-]{1,60}$/;

export interface ExposedTools {
  tools: readonly ListedTool[];
  /** The workflow's id by the tool's name. */
  workflowIds: ReadonlyMap<string, string>;
}

const NONE: ExposedTools = { tools: [], workflowIds: new Map() };

/**
 * What is exposed now, worked out when a workflow has changed.
 * @param runWorkflow as it is listed; without it nothing is exposed
 * @param taken the names of other tools
 */
export function exposedWorkflows(
  workflows: Pick<WorkflowReader, "exposedAsTools" | "revision">,
  stepTypes: readonly AnyStepType[],
  runWorkflow: ListedTool | undefined,
  taken: ReadonlySet<string>,
): () => Promise<ExposedTools> {
  if (runWorkflow === undefined) return async () => NONE;
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  let known: { revision: number; exposed: ExposedTools } | undefined;
  return async () => {
    // Before the rows: should one change in between, they are read again.
    const revision = await workflows.revision();
    if (known?.revision !== revision) {
      const found = await workflows.exposedAsTools(MOST_EXPOSED);
      const listed = found.map((it) => [it.id, toolOf(it, types, runWorkflow, taken)] as const);
      const exposed = {
        tools: listed.map(([, tool]) => tool),
        workflowIds: new Map(listed.map(([id, { name }]) => [name, id])),
      };
      known = { revision, exposed };
    }
    return known.exposed;
  };
}

function toolOf(
  { id, name: title, description, definition }: ExposedWorkflow,
  stepTypes: ReadonlyMap<string, AnyStepType>,
  runWorkflow: ListedTool,
  taken: ReadonlySet<string>,
): ListedTool {
  const steps = definition["steps"] as { id: string; type: string }[];
  const acts = steps.some((step) => stepTypes.get(step.type)?.hasEffects(step) ?? true);
  const about = description.trim();
  return {
    name: nameOf(id, taken),
    title,
    description: `${about === "" ? title : about.slice(0, MAX_DESCRIPTION).toWellFormed()}\n\nRuns the workflow ${id} and waits for it, as run_workflow does.`,
    inputSchema: inputsOf(id, definition["inputs"] as Record<string, unknown> | undefined),
    outputSchema: runWorkflow.outputSchema,
    annotations: {
      title,
      readOnlyHint: !acts,
      destructiveHint: acts,
      idempotentHint: !acts,
      openWorldHint: true,
    },
  };
}

function nameOf(id: string, taken: ReadonlySet<string>): string {
  const name = `run_${id.replaceAll(/[^A-Za-z0-9]/g, "_")}`;
  if (PLAIN_ID.test(id) && !taken.has(name)) return name;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME - 9)}_${hash}`;
}

function inputsOf(id: string, inputs: Record<string, unknown> | undefined): ListedTool["inputSchema"] {
  if (inputs === undefined) return { type: "object", properties: {}, additionalProperties: false };
  const { $schema: _, ...schema } = inputs;
  if (JSON.stringify(schema).length <= MAX_SCHEMA) return { ...schema, type: "object" };
  return { type: "object", description: `What it takes: see inputs in its definition (get_workflow ${id}).` };
}
