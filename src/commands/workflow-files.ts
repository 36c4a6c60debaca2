/** Workflows as YAML files, one for each workflow, named after its id. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { getProject } from "../../tools/projects/get-project.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { listWorkflows } from "../../tools/workflows/list-workflows.ts";
import type { WorkflowContent, WorkflowReader } from "../core/workflow-ports.ts";
import { fileOfSource } from "../core/definition-source.ts";
import { toYaml } from "../engine/definition/check/index.ts";
import type { Caller } from "./caller.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { allOf } from "./project-output.ts";
import { withCaller } from "./with-caller.ts";

const PAGE = 100;
/** Maximum number of texts that are read at the same time. */
const SOURCES_AT_A_TIME = 8;

/**
 * Formats a workflow as YAML; empty fields are left out.
 * @param draft whether the file may be applied with issues
 * @param source the text of the definition, whose comments and form are kept; null if there is none
 */
export function formatWorkflowFile(
  id: string,
  { name, description, tags, definition }: WorkflowContent,
  draft: boolean,
  source: string | null = null,
): string {
  const fields = {
    id,
    name,
    ...(description !== "" && { description }),
    ...(tags.length > 0 && { tags }),
    ...(draft && { draft }),
  };
  const written = source === null ? null : fileOfSource(source, toYaml(fields));
  return written ?? toYaml({ ...definition, ...fields });
}

/** Whether the newest version is not the published one. Only that one certainly has no issues. */
export const isUnpublished = ({ version, published_version }: WorkflowWithDefinition): boolean =>
  published_version !== version;

/**
 * Reads all workflows that are not archived, with their definitions, sorted by id.
 * @param project only of this project; left out, of all
 */
export async function allWorkflows(
  workflows: WorkflowReader,
  project?: string,
): Promise<WorkflowWithDefinition[]> {
  const all: WorkflowWithDefinition[] = [];
  for (let after: readonly [string, string] | null = null; ;) {
    const query = {
      filter: { project },
      sort: "created_at",
      limit: PAGE,
      withDefinition: true,
      after,
    } as const;
    const { items, next } = await workflows.page(query);
    all.push(...(items as WorkflowWithDefinition[]));
    if (next === null) return all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    after = next;
  }
}

/** The text that is kept of a workflow's definition; null if there is none. */
export async function sourceOf({ call }: Pick<Caller, "call">, id: string): Promise<string | null> {
  const { source } = await call<{ source?: string }>(getWorkflow, { workflow_id: id, include: ["source"] });
  return source ?? null;
}

/** Reads the workflow files of a directory, sorted by name. */
export function readWorkflowFiles(directory: string): { file: string; stem: string; text: string }[] {
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => /\.(?:ya?ml|json)$/.test(name));
  } catch (error) {
    throw new CommandError(`${directory} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
  if (names.length === 0)
    throw new CommandError(
      `${directory} holds no workflows. Their files must end in .yaml, .yml or .json.`,
      EXIT.usage,
    );
  return names.toSorted().map((name) => {
    const file = join(directory, name);
    return { file, stem: name.replace(/\.\w+$/, ""), text: readWorkflowText(file) };
  });
}

function readWorkflowText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
}

/** Writes all workflows that are not archived to a directory; files that do not change are not written. */
export async function exportWorkflows(
  io: Io,
  directory: string,
  { project }: { project?: string } = {},
): Promise<void> {
  const all = await withCaller(io, { requiresStateFor: "export" }, async (caller) => {
    if (project !== undefined) await caller.call(getProject, { project });
    const input = { include: ["definition"], ...(project !== undefined && { project }) };
    const workflows = await allOf<WorkflowWithDefinition>(caller, listWorkflows, input);
    const limit = pLimit(SOURCES_AT_A_TIME);
    return Promise.all(
      workflows.map(async (workflow) => ({
        workflow,
        source: await limit(() => sourceOf(caller, workflow.id)),
      })),
    );
  });
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `The directory ${directory} cannot be created: ${fileProblem(error)}.`,
      EXIT.usage,
    );
  }
  let written = 0;
  let same = 0;
  for (const { workflow, source } of all.toSorted((a, b) => (a.workflow.id < b.workflow.id ? -1 : 1))) {
    if (workflow.definition === null) {
      io.err(`${workflow.id} has no definition yet and was skipped.\n`);
      continue;
    }
    const file = join(directory, `${workflow.id}.yaml`);
    const text = formatWorkflowFile(workflow.id, workflow, isUnpublished(workflow), source);
    if (readIfExists(file) === text) {
      same += 1;
    } else {
      writeFileSync(file, text);
      written += 1;
    }
  }
  io.out(`${written} written, ${same} unchanged, in ${directory}\n`);
}

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
