/** Workflows as files: one YAML file each, named by its id. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { WorkflowContent, WorkflowReader } from "../core/ports.ts";
import { toYaml } from "../engine/definition/check/index.ts";
import { CommandError, EXIT, type Io } from "./io.ts";
import { withOperator } from "./operator.ts";

const PAGE = 100;

/** What stands in a workflow's file; what is empty is left out. */
export const formatWorkflowFile = (
  id: string,
  { name, description, tags, definition }: WorkflowContent,
): string =>
  toYaml({
    ...definition,
    id,
    name,
    ...(description !== "" && { description }),
    ...(tags.length > 0 && { tags }),
  });

/** All workflows but archived ones, with their definitions, by id. */
export async function allWorkflows(workflows: WorkflowReader): Promise<WorkflowWithDefinition[]> {
  const all: WorkflowWithDefinition[] = [];
  for (let after: readonly [string, string] | null = null; ;) {
    const query = { filter: {}, sort: "created_at", limit: PAGE, withDefinition: true, after } as const;
    const { items, next } = await workflows.page(query);
    all.push(...(items as WorkflowWithDefinition[]));
    if (next === null) return all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    after = next;
  }
}

/** The files of a directory that hold workflows, in the order of their names. */
export function readWorkflowFiles(directory: string): { file: string; stem: string; text: string }[] {
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => /\.(?:ya?ml|json)$/.test(name));
  } catch (error) {
    throw new CommandError(`${directory} can't be read: ${(error as Error).message}`, EXIT.usage);
  }
  if (names.length === 0)
    throw new CommandError(
      `${directory} holds no workflows: no file there ends in .yaml, .yml or .json.`,
      EXIT.usage,
    );
  return names.toSorted().map((name) => {
    const file = join(directory, name);
    return { file, stem: name.replace(/\.\w+$/, ""), text: readFileSync(file, "utf8") };
  });
}

/** Writes every workflow but archived ones into a directory; what is the same already is left alone. */
export async function exportWorkflows(io: Io, directory: string): Promise<void> {
  const all = await withOperator(io, { requiresStateFor: "export" }, ({ services }) =>
    allWorkflows(services.read.workflows),
  );
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new CommandError(`${directory} can't be made a directory: ${(error as Error).message}`, EXIT.usage);
  }
  let written = 0;
  let same = 0;
  for (const workflow of all) {
    if (workflow.definition === null) {
      io.err(`${workflow.id} has no definition yet and was left out.\n`);
      continue;
    }
    const file = join(directory, `${workflow.id}.yaml`);
    const text = formatWorkflowFile(workflow.id, workflow);
    if (readIfThere(file) === text) {
      same += 1;
    } else {
      writeFileSync(file, text);
      written += 1;
    }
  }
  io.out(`${written} written, ${same} unchanged, in ${directory}\n`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
