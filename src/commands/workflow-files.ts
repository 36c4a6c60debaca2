/** Workflows as YAML files, one for each workflow, named after its id. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { findProject } from "../../tools/projects/find-project.ts";
import type { WorkflowContent, WorkflowReader } from "../core/ports.ts";
import { changeText, toYaml } from "../engine/definition/check/index.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { withOperator } from "./operator.ts";

const PAGE = 100;

/**
 * Formats a workflow as YAML, with the comments of its text; empty fields are left out.
 * @param draft whether the file may be applied with issues
 */
export function formatWorkflowFile(
  id: string,
  { name, description, tags, definition, definition_text: text }: WorkflowContent,
  draft: boolean,
): string {
  const file = {
    ...definition,
    id,
    name,
    ...(description !== "" && { description }),
    ...(tags.length > 0 && { tags }),
    ...(draft && { draft }),
  };
  return (text ? changeText(text, definition, file) : undefined) ?? toYaml(file);
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

/** A workflow with the text of its definition. */
export type WrittenWorkflow = WorkflowWithDefinition & Pick<WorkflowContent, "definition_text">;

export const withText = async (
  workflows: Pick<WorkflowReader, "versionText">,
  workflow: WorkflowWithDefinition,
): Promise<WrittenWorkflow> => ({
  ...workflow,
  definition_text: await workflows.versionText(workflow.id, workflow.version),
});

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
    return { file, stem: name.replace(/\.\w+$/, ""), text: readFileSync(file, "utf8") };
  });
}

/** Writes all workflows that are not archived to a directory; files that do not change are not written. */
export async function exportWorkflows(
  io: Io,
  directory: string,
  { project }: { project?: string } = {},
): Promise<void> {
  const all = await withOperator(io, { requiresStateFor: "export" }, async ({ services: { read } }) => {
    if (project !== undefined) await findProject(read.projects, project);
    const workflows = await allWorkflows(read.workflows, project);
    return Promise.all(workflows.map((workflow) => withText(read.workflows, workflow)));
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
  for (const workflow of all) {
    if (workflow.definition === null) {
      io.err(`${workflow.id} has no definition yet and was skipped.\n`);
      continue;
    }
    const file = join(directory, `${workflow.id}.yaml`);
    const text = formatWorkflowFile(workflow.id, workflow, isUnpublished(workflow));
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
