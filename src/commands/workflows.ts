/** `millrace workflows list | show | create | edit`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workflow, WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { getWorkflow } from "../../tools/workflows/get-workflow.ts";
import { listWorkflows } from "../../tools/workflows/list-workflows.ts";
import { updateWorkflow } from "../../tools/workflows/update-workflow.ts";
import { sourceOfFile } from "../core/definition-source.ts";
import { formatTimestamp } from "./columns.ts";
import { AppError } from "../core/errors.ts";
import { FILE_FIELDS } from "../engine/definition/definition-schema.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT, type Io, issueLine, paint, withAdvice } from "./io.ts";
import type { Caller, CheckedFile } from "./caller.ts";
import { withCaller } from "./with-caller.ts";
import { printJson, printTable } from "./project-output.ts";
import { shellWord } from "./shell-word.ts";
import { formatWorkflowFile } from "./workflow-files.ts";

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
  const { items, total } = await withCaller(io, { requiresStateFor: "list workflows of" }, ({ call }) =>
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

/** Shows a workflow: its facts and its definition as YAML. */
export async function showWorkflow(io: Io, id: string, { json }: { json?: boolean }): Promise<void> {
  const found = await withCaller(io, { requiresStateFor: "show a workflow of" }, ({ call }) =>
    call<WorkflowWithSource>(getWorkflow, { workflow_id: id, include: ["source"] }),
  );
  if (json) return printJson(io, found);
  const { status, version, published_version: published, updated_at: updated, created_by: by } = found;
  const versions = published === version || published === null ? "" : `, published version ${published}`;
  io.out(
    `${paint(io).bold(found.id)}  ${status}, version ${version}${versions}, updated ${formatTimestamp(updated)}, created by ${by}\n\n`,
  );
  io.out(formatWorkflowFile(found.id, found, false, found.source));
}

type WorkflowWithSource = WorkflowWithDefinition & { source?: string };

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
  }: ContentOptions & { name?: string; description?: string; project?: string },
): Promise<void> {
  const text = file === undefined ? undefined : readText(file);
  const saved = await withCaller(io, { config }, async (caller) => {
    const report = text === undefined ? undefined : await checked(caller, text, file!, fields.project);
    const { id, name: written, description, tags } = report?.file ?? {};
    const chosen = name ?? written;
    if (chosen === undefined) throw new CommandError("Give the workflow a --name.", EXIT.usage);
    const created = await caller.call<Workflow>(
      createWorkflow,
      defined({
        id,
        description,
        tags,
        ...fields,
        name: chosen,
        definition: text === undefined || report === undefined ? undefined : definitionInput(text, report),
      }),
    );
    printIssues(io, report?.errors ?? []);
    return created;
  });
  io.out(`Created ${saved.id} as a draft. millrace workflows edit ${saved.id} changes it.\n`);
}

/** Opens a workflow in the editor of the person, or takes a file, and saves what has changed as a new version. */
export async function editOne(
  io: Io,
  edit: (file: string) => Promise<void>,
  id: string,
  { file, reason, config }: ContentOptions,
): Promise<void> {
  await withCaller(io, { config }, async (caller) => {
    const found = await caller.call<WorkflowWithSource>(getWorkflow, {
      workflow_id: id,
      include: ["source"],
    });
    const before = formatWorkflowFile(found.id, found, false, found.source);
    const save = async (text: string): Promise<void> => {
      if (text === before) return io.out("Nothing was changed.\n");
      const report = await checked(caller, text, file ?? found.id, found.project, found.id);
      assertSameId(report.file.id, found.id, file);
      const saved = await caller.call<Workflow>(
        updateWorkflow,
        defined({
          workflow_id: found.id,
          name: report.file.name,
          description: report.file.description ?? "",
          tags: report.file.tags ?? [],
          definition: definitionInput(text, report),
          reason,
          // What somebody has saved since it was read is not overwritten.
          if_match: found.version,
        }),
      );
      printIssues(io, report.errors);
      io.out(
        saved.version === found.version
          ? "Nothing was changed.\n"
          : `Saved version ${saved.version} of ${saved.id}. Callers get it when it is published.\n`,
      );
    };
    await (file === undefined ? editAndSave(before, found.id, edit, save) : save(readText(file)));
  });
}

const printIssues = (io: Io, issues: CheckedFile["errors"]): void => {
  for (const issue of issues) io.err(`${paint(io).yellow("Issue:")} ${issueLine(issue)}\n`);
};

/** @throws CommandError when the text is that of another workflow */
function assertSameId(written: string | undefined, id: string, file: string | undefined): void {
  if (written === undefined || written === id) return;
  const other =
    file === undefined
      ? ""
      : `, or edit that one: millrace workflows edit ${written} --file ${shellWord(file)}`;
  throw new CommandError(
    `${file ?? "The text"} has the id "${written}", but this command edits "${id}", and ids can't be changed. Write id: ${id}${other}`,
    EXIT.usage,
  );
}

/** Has a text edited in a file of its own, which is kept if the person changed it and it can't be saved. */
async function editAndSave(
  text: string,
  id: string,
  edit: (file: string) => Promise<void>,
  save: (text: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "millrace-"));
  const path = join(directory, `${id}.yaml`);
  try {
    writeFileSync(path, text, { mode: 0o600 });
    await edit(path);
    await save(readFileSync(path, "utf8"));
  } catch (error) {
    if (isChanged(path, text)) throw withAdvice(error, keptText(error, id, shellWord(path)));
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  rmSync(directory, { recursive: true, force: true });
}

function isChanged(path: string, text: string): boolean {
  try {
    return readFileSync(path, "utf8") !== text;
  } catch {
    // There is no file that could be kept.
    return false;
  }
}

/** Says where the text is, and how to save it. */
function keptText(error: unknown, id: string, path: string): string {
  // The next attempt would replace the changes of others.
  const isConflict = error instanceof AppError && error.code === "version_conflict";
  const first = isConflict ? `Add what others changed (millrace workflows show ${id}) to it first. ` : "";
  return `Your text is in ${path}. ${first}Retry with --file ${path}.`;
}

/** The definition of a file as its text, so that comments are kept; as an object if the text is not kept. */
const definitionInput = (text: string, { definition }: CheckedFile) => sourceOfFile(text) ?? definition;

/** @throws CommandError when the text is no definition or a field of the file is invalid; other issues are saved as a draft */
async function checked(
  { checkFile }: Caller,
  text: string,
  source: string,
  project = "default",
  selfId?: string,
): Promise<CheckedFile> {
  const report = await checkFile(text, { project, selfId });
  // An invalid field is left out of the report, so that saving would remove the value before.
  const refused = report.definition === null ? report.errors : report.errors.filter(isOfFileField);
  if (report.definition !== null && refused.length === 0) return report;
  throw new CommandError(
    [`${source} can't be saved:`, ...refused.map((issue) => `- ${issueLine(issue)}`)].join("\n"),
  );
}

/** Whether an issue is in a field that only files have, or in one that is named almost like it. */
const isOfFileField = ({ path, did_you_mean: near = "" }: CheckedFile["errors"][number]): boolean =>
  Object.hasOwn(FILE_FIELDS, /^[^.[]*/.exec(path)![0]) ||
  (!/[.[]/.test(path) && Object.hasOwn(FILE_FIELDS, near));

function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${fileProblem(error)}.`, EXIT.usage);
  }
}
