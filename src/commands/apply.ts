/** `millrace workflows apply`: changes the workflows to match the files of a directory, once all files are valid. */
import type { z } from "zod";
import type { PublishedWorkflow } from "../../schemas/exposure.ts";
import { DEFAULT_PROJECT, projectOf, workflowIdPrefix } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import { WORKFLOW_ID, type WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { hasComments, sourceOfFile } from "../core/definition-source.ts";
import { AppError } from "../core/errors.ts";
import {
  type ApplyPlan,
  type ApplyTarget,
  calleesFirst,
  type FileWorkflow,
  isUnchanged,
} from "./apply-target.ts";
import { brokenBy } from "./callers-left-behind.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { lineDiff } from "../core/line-diff.ts";
import { plural } from "./plural.ts";
import { remoteServer } from "./remote/server.ts";
import { assertNoConfig } from "./with-caller.ts";
import { formatWorkflowFile, isUnpublished, readWorkflowFiles } from "./workflow-files.ts";

export interface ApplyOptions {
  yes?: boolean;
  dryRun?: boolean;
  /** Archives workflows that have no file. */
  prune?: boolean;
  /** Publishes the new and changed workflows. */
  publish?: boolean;
  /** Whether definitions are also checked against databases, models and MCP servers; off with `--no-bind`. */
  bind: boolean;
  reason?: string;
  config?: string;
  /** The project of all files. Left out, that of the workflow that a file changes; new ones belong to the default one. */
  project?: string;
}

/** Applies the files of a directory, after all are checked and the operator confirms the changes. */
export async function applyWorkflows(
  io: Io,
  host: ConfirmHost,
  directory: string,
  options: ApplyOptions,
): Promise<void> {
  const files = readWorkflowFiles(directory);
  const pending = new Map<string, FileWorkflow>();
  await withTarget(io, options, pending, async (target) => {
    const { bind: checkConnections, project } = options;
    if (project !== undefined) await target.assertProject(project);
    const workflows = await checkFiles(io, target, files, pending, { checkConnections, project });
    const plan = await createPlan(target, workflows, options.prune ? (project ?? DEFAULT_PROJECT) : null);
    printPlan(io, plan);
    const { added, changed, archived } = plan;
    if (added.length + changed.length + archived.length === 0 || options.dryRun) return;
    if (!options.yes) await confirm(host, "Apply this?", "applied");
    await target.commit(plan, options.reason ?? null);
    io.out("Applied.\n");
    if (options.publish)
      await target.withExecutors(() => publish(io, target, calleesFirst([...added, ...changed])));
  });
}

async function withTarget(
  io: Io,
  { config, bind }: ApplyOptions,
  pending: Map<string, FileWorkflow>,
  work: (target: ApplyTarget) => Promise<void>,
): Promise<void> {
  const server = remoteServer(io.env);
  if (server === undefined) {
    const { withStateHere } = await import("./apply-here.ts");
    return withStateHere(io, config, pending, work);
  }
  assertNoConfig(config);
  if (!bind)
    throw new CommandError(
      "--no-bind is not possible with MILLRACE_URL: the server checks definitions with its own connections. Leave it out.",
      EXIT.usage,
    );
  const { serverTarget } = await import("./remote/apply-there.ts");
  return work(serverTarget(server, pending));
}

/**
 * Checks the files. The issues of drafts are printed only.
 * @throws CommandError with the issues of all other files
 */
async function checkFiles(
  io: Io,
  target: ApplyTarget,
  files: ReturnType<typeof readWorkflowFiles>,
  pending: Map<string, FileWorkflow>,
  { checkConnections, project: requested }: { checkConnections: boolean; project: string | undefined },
): Promise<FileWorkflow[]> {
  const lines: string[] = [];
  const workflows: FileWorkflow[] = [];
  for (const { file, stem, text } of files) {
    const report = await target.read(text);
    const id = report.file.id ?? stem;
    const current = await target.find(id);
    const name = report.file.name ?? current?.name;
    if (report.file.id === undefined && !WORKFLOW_ID.test(stem))
      lines.push(
        `${file}:1:1: id is missing, and the file name is not a valid id. Add id: <lower-case-with-dashes>.`,
      );
    if (name === undefined) lines.push(`${file}:1:1: name is missing. A new workflow needs a name.`);
    if (current?.status === "archived")
      lines.push(`${file}:1:1: "${id}" is archived. Restore it first, or remove the file.`);
    const project = requested ?? projectOf(current ?? {});
    const misplaced = projectIssue(id, current, project);
    if (misplaced !== undefined) lines.push(`${file}:1:1: ${misplaced}`);
    const duplicate = pending.get(id);
    if (duplicate !== undefined) lines.push(`${file}:1:1: ${duplicate.file} has the same id "${id}".`);
    if (report.definition === null) {
      lines.push(...report.errors.map((issue) => issueLine(file, issue)));
      continue;
    }
    const { description = "", tags = [], draft = false } = report.file;
    const content = { name: name ?? id, description, tags, definition: report.definition };
    const source = sourceOfFile(text);
    const currentSource = current === undefined ? null : await target.sourceOf(current);
    const workflow: FileWorkflow = {
      id,
      project,
      file,
      content,
      source,
      current,
      currentSource,
      draft,
      issueCount: 0,
    };
    if (duplicate === undefined) pending.set(id, workflow);
    workflows.push(workflow);
  }
  for (const workflow of workflows) {
    const { id, project, file, current } = workflow;
    // A workflow that does not change may be a draft with issues.
    if (current !== undefined && isUnchanged(current, workflow)) continue;
    const { text } = files.find((candidate) => candidate.file === file)!;
    const { issues, deferred } = await target.check(text, { checkConnections, project, selfId: id });
    const found = issues.map((issue) => issueLine(file, issue));
    if (deferred.length > 0)
      io.err(
        `${file}: ${plural(deferred.length, "issue")} with the published versions of the workflows that it runs. ` +
          "They are changed too, so it is checked again when it is published.\n",
      );
    workflow.issueCount = found.length;
    if (!workflow.draft) lines.push(...found);
    else if (found.length > 0) io.err(`${found.join("\n")}\n${file} is a draft and can be applied.\n`);
  }
  if (lines.length === 0) return workflows;
  const advice =
    checkConnections && target.canSkipConnections
      ? " (--no-bind skips the checks that need this machine's configuration.)"
      : "";
  throw new CommandError(`${lines.join("\n")}\nNothing was applied.${advice}`);
}

/** Why a workflow does not fit the project of its file; undefined if it does. */
function projectIssue(
  id: string,
  current: WorkflowWithDefinition | undefined,
  project: string,
): string | undefined {
  if (current !== undefined) {
    const actual = projectOf(current);
    if (actual === project) return undefined;
    return `"${id}" belongs to the project "${actual}", not "${project}". Apply it with --project ${actual}, or move it first.`;
  }
  const prefix = workflowIdPrefix(project);
  if (prefix !== "" && !id.startsWith(prefix))
    return `the id of a new workflow of the project "${project}" must begin with "${prefix}". Add id: ${prefix}${id}`;
  const [named, rest] = id.split(".");
  return prefix === "" && rest !== undefined
    ? `"${id}" is new, and its id begins with a project. Apply it with --project ${named}, or use an id without a dot.`
    : undefined;
}

function issueLine(file: string, { path, message, did_you_mean, fix, line = 1, column = 1 }: Issue): string {
  const advice = fix ?? (did_you_mean === undefined ? "" : `Did you mean ${did_you_mean}?`);
  return `${file}:${line}:${column}: ${[path, message].filter(Boolean).join(" ")}${advice === "" ? "" : `. ${advice}`}`;
}

async function createPlan(
  target: ApplyTarget,
  workflows: readonly FileWorkflow[],
  prunedProject: string | null,
): Promise<ApplyPlan> {
  const plan: Omit<ApplyPlan, "broken"> = { added: [], changed: [], unchanged: 0, archived: [] };
  for (const workflow of workflows) {
    const { current } = workflow;
    if (current === undefined) plan.added.push(workflow);
    else if (isUnchanged(current, workflow)) plan.unchanged += 1;
    else plan.changed.push({ ...workflow, current });
  }
  if (prunedProject !== null) {
    const ids = new Set(workflows.map(({ id }) => id));
    const existing = await target.all(prunedProject);
    plan.archived = existing.filter(({ id }) => !ids.has(id));
  }
  return { ...plan, broken: await target.callersLeftBehind(workflows, plan.archived) };
}

function printPlan(io: Io, { added, changed, unchanged, archived, broken }: ApplyPlan): void {
  const { green, red, dim, bold } = paint(io);
  const colour = { added: green, removed: red, same: dim, gap: dim } as const;
  const sign = { added: "+", removed: "-", same: " ", gap: " " } as const;
  const printChange = (title: string, before: string, after: string): void => {
    io.out(`${bold(title)}\n`);
    for (const { kind, text } of lineDiff(before, after))
      io.out(`${colour[kind](`${sign[kind]} ${text}`)}\n`);
    io.out("\n");
  };
  for (const { id, content, draft, source } of added)
    printChange(`new: ${id}`, "", formatWorkflowFile(id, content, draft, source));
  for (const { id, content, current, draft, source, currentSource } of changed) {
    // Without comments, a first text is not compared: all that differs in form would seem to be changed.
    const isFirst = currentSource === null && (source === null || !hasComments(source));
    const [before, after] = isFirst ? [null, null] : [currentSource, source];
    printChange(
      `changed: ${id}`,
      formatWorkflowFile(id, current, isUnpublished(current), before),
      formatWorkflowFile(id, content, draft, after),
    );
  }
  for (const { id } of archived) io.out(`${bold(red(`archived: ${id}`))}\n${red(brokenBy(id, broken))}\n`);
  io.out(
    `${added.length} new, ${changed.length} changed, ${unchanged} unchanged, ${archived.length} to be archived\n`,
  );
}

/** Publishes one workflow after the other, each after its examples ran; a failure does not stop the others. */
async function publish(io: Io, { call }: ApplyTarget, workflows: readonly FileWorkflow[]): Promise<void> {
  const failed: string[] = [];
  const ids = workflows.map(({ id }) => id);
  for (const { id, issueCount } of workflows) {
    if (issueCount > 0) {
      io.out(`not published: ${id} is a draft with ${plural(issueCount, "issue")}\n`);
      continue;
    }
    try {
      // The other ones follow with versions that fit this one.
      const { warnings = [] } = await call<z.output<typeof PublishedWorkflow>>(publishWorkflow, {
        workflow_id: id,
        break_callers: ids,
      });
      io.out(`published: ${id}\n`);
      for (const { path, message } of warnings) io.out(`  warning: ${path} ${message}\n`);
    } catch (error) {
      // A CommandError says that the server can't be reached, or refuses the key.
      if (!(error instanceof AppError || error instanceof CommandError)) throw error;
      failed.push(`not published: ${id}: ${error.message}`);
    }
  }
  if (failed.length > 0) throw new CommandError(failed.join("\n"));
}
