/** `millrace workflows list | show | create | edit`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workflow } from "../../schemas/workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { listWorkflows } from "../../tools/workflows/list-workflows.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import type { CheckReport } from "../core/engine-port.ts";
import { toYaml } from "../engine/definition/check/index.ts";
import { formatTimestamp } from "./columns.ts";
import { checkText, readText } from "./definition-text.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io, issueLine, paint } from "./io.ts";
import { withOperator } from "./operator.ts";
import { printJson, printTable } from "./project-output.ts";
import { formatWorkflowFile, type WrittenWorkflow } from "./workflow-files.ts";

export interface ListOptions {
  search?: string;
  tag?: string;
  status?: string;
  project?: string;
  limit: number;
  json?: boolean;
}

const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Lists workflows by name. */
export async function showWorkflows(io: Io, { json, ...filter }: ListOptions): Promise<void> {
  const { items, total } = await withOperator(io, { requiresStateFor: "list workflows of" }, ({ call }) =>
    call<{ items: Workflow[]; total: number }>(listWorkflows, defined({ sort: "name", ...filter })),
  );
  if (json) return printJson(io, items);
  if (items.length === 0)
    return io.out("There are no such workflows. Create one: millrace workflows create --name <name>\n");
  printTable(
    io,
    ["ID", "STATUS", "VERSION", "PUBLISHED", "UPDATED", "NAME"],
    items.map((item) => [
      item.id,
      item.status,
      String(item.version),
      item.published_version === null ? "-" : String(item.published_version),
      formatTimestamp(item.updated_at),
      item.name,
    ]),
  );
  if (total > items.length) io.out(paint(io).dim(`${total - items.length} more; show them with --limit\n`));
}

const WITH_TEXT = { include: ["text"] };

/** Shows a workflow: its facts and its definition as YAML. */
export async function showWorkflow(io: Io, id: string, { json }: { json?: boolean }): Promise<void> {
  const found = await withOperator(io, { requiresStateFor: "show a workflow of" }, ({ call }) =>
    call<WrittenWorkflow>(getWorkflow, { workflow_id: id, ...(!json && WITH_TEXT) }),
  );
  if (json) return printJson(io, found);
  const { status, version, published_version: published, updated_at: updated, created_by: by } = found;
  const versions = published === version || published === null ? "" : `, published version ${published}`;
  io.out(
    `${paint(io).bold(found.id)}  ${status}, version ${version}${versions}, updated ${formatTimestamp(updated)}, created by ${by}\n\n`,
  );
  io.out(formatWorkflowFile(found.id, found, false));
}

interface ContentOptions {
  file?: string;
  reason?: string;
  config?: string;
}

/** Creates a draft from a name, or from a file. */
export async function createOne(
  io: Io,
  {
    file,
    config,
    name,
    ...fields
  }: ContentOptions & { name?: string; id?: string; description?: string; project?: string },
): Promise<void> {
  const text = file === undefined ? undefined : readText(file);
  const { workflow: saved, report } = await withOperator(io, { config }, async (operator) => {
    const found = text === undefined ? undefined : await checkText(operator, text, file!, fields.project);
    const { id, name: written, description, tags } = found?.file ?? {};
    const chosen = name ?? written;
    if (chosen === undefined) throw new CommandError("Give the workflow a --name.", EXIT.usage);
    const workflow = await operator.call<Workflow>(
      createWorkflow,
      defined({
        id,
        description,
        tags,
        ...fields,
        name: chosen,
        definition: found?.text ?? found?.definition,
      }),
    );
    return { workflow, report: found };
  });
  if (report !== undefined) printFindings(io, report);
  io.out(`Created ${saved.id} as a draft. millrace workflows edit ${saved.id} changes it.\n`);
}

/** Opens a workflow in the editor of the person, or takes a file, and saves what has changed as a new version. */
export async function editOne(
  io: Io,
  edit: (file: string) => Promise<void>,
  id: string,
  { file, reason, config }: ContentOptions,
): Promise<void> {
  await withOperator(io, { config }, async (operator) => {
    const found = await operator.call<WrittenWorkflow>(getWorkflow, { workflow_id: id, ...WITH_TEXT });
    const before = formatWorkflowFile(found.id, found, false);
    const text = file === undefined ? await edited(before, found.id, edit) : readText(file);
    if (text === before) return io.out("Nothing was changed.\n");
    const { definition, definition_text: written } = found;
    const baseText = written ? { text: written, definition: JSON.stringify(definition) } : null;
    const report = await checkText(operator, text, file ?? found.id, found.project, found.id, baseText);
    const saved = await operator.call<Workflow>(
      updateWorkflow,
      defined({
        workflow_id: found.id,
        name: report.file.name,
        description: report.file.description ?? "",
        tags: report.file.tags ?? [],
        // As text, so that comments that were deleted do not stay.
        definition: report.text ?? toYaml(report.definition),
        reason,
        // What somebody has saved since it was read is not overwritten.
        if_match: found.version,
      }),
    );
    printFindings(io, report);
    io.out(
      saved.version === found.version
        ? "Nothing was changed.\n"
        : `Saved version ${saved.version} of ${saved.id}. Callers get it when it is published.\n`,
    );
  });
}

/** Prints the issues and the warnings of a definition that is saved. */
function printFindings(io: Io, { errors, warnings }: Pick<CheckReport, "errors" | "warnings">): void {
  const { yellow } = paint(io);
  for (const issue of errors) io.err(`${yellow("Issue:")} ${issueLine(issue)}\n`);
  for (const issue of warnings) io.err(`${yellow("Warning:")} ${issueLine(issue)}\n`);
}

/** @throws CommandError when there can be none */
function temporaryDirectory(): string {
  const parent = tmpdir();
  try {
    return mkdtempSync(join(parent, "millrace-"));
  } catch (error) {
    throw new CommandError(
      `No temporary file can be created in ${parent}: ${fileProblem(error)}. Set TMPDIR to a directory that this user may write to, or use --file.`,
    );
  }
}

/** Has a text edited in a file of its own. */
async function edited(text: string, id: string, edit: (file: string) => Promise<void>): Promise<string> {
  const directory = temporaryDirectory();
  try {
    const path = join(directory, `${id}.yaml`);
    writeFileSync(path, text, { mode: 0o600 });
    await edit(path);
    return readFileSync(path, "utf8");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
