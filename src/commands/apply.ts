/** `millrace workflows apply`: changes the workflows to match the files of a directory, all of them or none. */
import { DEFAULT_PROJECT, projectField, projectOf } from "../../schemas/project.ts";
import { COMMAND_LINE } from "../../schemas/actor.ts";
import type { Issue } from "../../schemas/problem.ts";
import { MAX_VERSION, WORKFLOW_ID, type WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { findProject } from "../../tools/projects/find-project.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { AppError } from "../core/errors.ts";
import { newRequestId } from "../core/ids.ts";
import type { Readers, WorkflowContent } from "../core/ports.ts";
import { calledWorkflowIds } from "../core/workflow-calls.ts";
import { workflowIdIssue, workflowSlug } from "../core/workflow-id.ts";
import { refusedPublication } from "./command-ways.ts";
import { withExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { publishWhenTested } from "./publish.ts";
import { confirm, type ConfirmHost } from "./confirm.ts";
import { CommandError, type Io, issueLine, paint } from "./io.ts";
import { lineDiff } from "../core/line-diff.ts";
import { OPERATOR_ACTOR, withOperator, type Operator, type OperatorOptions } from "./operator.ts";
import { brokenBy, type CallersLeftBehind, callersLeftBehind } from "./callers-left-behind.ts";
import { plural } from "./plural.ts";
import {
  allWorkflows,
  formatWorkflowFile,
  isUnpublished,
  readWorkflowFiles,
  withText,
  type WrittenWorkflow,
} from "./workflow-files.ts";

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

/** A workflow as its file describes it. */
interface FileWorkflow {
  id: string;
  project: string;
  file: string;
  content: WorkflowContent & { definition: Record<string, unknown> };
  current: WrittenWorkflow | undefined;
  /** Whether the file says that it is a draft, which may have issues. */
  draft: boolean;
  /** Number of issues of a draft. */
  issueCount: number;
  /** The warnings of its text; they are printed already. */
  warnings: readonly Issue[];
  /** The next times of its schedule, in its zone; none without one. */
  nextTimes: readonly string[];
}

interface Plan {
  added: FileWorkflow[];
  changed: (FileWorkflow & { current: WrittenWorkflow })[];
  unchanged: number;
  archived: WorkflowWithDefinition[];
  broken: CallersLeftBehind;
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
  const own = inProcessExecutor();
  const operatorOptions: OperatorOptions = {
    config: options.config,
    executors: own,
    wrapReaders: (read) => withPending(read, pending),
  };
  await withOperator(io, operatorOptions, async (operator) => {
    const { bind: checkConnections, project } = options;
    if (project !== undefined) await findProject(operator.services.read.projects, project);
    const workflows = await checkFiles(io, operator, files, pending, { checkConnections, project });
    const plan = await createPlan(operator, workflows, options.prune ? (project ?? DEFAULT_PROJECT) : null);
    printPlan(io, plan);
    const { added, changed, archived } = plan;
    if (added.length + changed.length + archived.length === 0 || options.dryRun) return;
    if (!options.yes) await confirm(host, "Apply this?", "applied");
    await commit(operator, plan, options.reason ?? null);
    io.out("Applied.\n");
    pending.clear();
    if (options.publish)
      await withExecutor(io, operator, own, () =>
        publish(io, operator, calleesFirst([...added, ...changed])),
      );
  });
}

/** Shows the pending workflows as if they existed: a file may run another workflow that is new in the same directory. */
function withPending(read: Readers, pending: ReadonlyMap<string, FileWorkflow>): Readers {
  return {
    ...read,
    workflows: {
      ...read.workflows,
      async find(id) {
        const found = await read.workflows.find(id);
        const workflow = pending.get(id);
        if (workflow === undefined) return found;
        const blank = { created_at: "", updated_at: "", created_by: "" };
        return {
          ...blank,
          ...found,
          ...workflow.content,
          ...projectField(workflow.project),
          id,
          status: "draft",
          version: MAX_VERSION,
          published_version: null,
        };
      },
      recentIds: async (limit) =>
        [...pending.keys(), ...(await read.workflows.recentIds(limit))].slice(0, limit),
    },
    runs: {
      ...read.runs,
      versionDefinition: (id, version) =>
        version === MAX_VERSION && pending.has(id)
          ? Promise.resolve(pending.get(id)!.content.definition)
          : read.runs.versionDefinition(id, version),
    },
  };
}

/**
 * Checks the files. Warnings and the issues of drafts are printed only.
 * @throws CommandError with the issues of all other files
 */
async function checkFiles(
  io: Io,
  { services }: Operator,
  files: ReturnType<typeof readWorkflowFiles>,
  pending: Map<string, FileWorkflow>,
  { checkConnections, project: requested }: { checkConnections: boolean; project: string | undefined },
): Promise<FileWorkflow[]> {
  const call = { owner: COMMAND_LINE, signal: new AbortController().signal };
  const { engine, read } = services;
  const lines: string[] = [];
  const workflows: FileWorkflow[] = [];
  for (const { file, stem, text } of files) {
    const report = await engine.check(text, {
      checkConnections: false,
      allowFileFields: true,
      project: DEFAULT_PROJECT,
      baseText: null,
      ...call,
    });
    const id = report.file.id ?? stem;
    const found = await read.workflows.find(id);
    const current = found && (await withText(read.workflows, found));
    const name = report.file.name ?? current?.name;
    if (report.file.id === undefined && !WORKFLOW_ID.test(stem))
      lines.push(
        `${file}:1:1: id is missing, and the file name is not a valid id. ${await idAdvice(read, stem, requested ?? DEFAULT_PROJECT)}`,
      );
    if (name === undefined && !report.errors.some(({ path }) => path === "name"))
      lines.push(`${file}:1:1: name is missing. A new workflow needs a name.`);
    if (current?.status === "archived")
      lines.push(`${file}:1:1: "${id}" is archived. Restore it first, or remove the file.`);
    const project = requested ?? projectOf(current ?? {});
    const misplaced = projectIssue(id, current, project);
    if (misplaced !== undefined) lines.push(`${file}:1:1: ${misplaced}`);
    const duplicate = pending.get(id);
    if (duplicate !== undefined) lines.push(`${file}:1:1: ${duplicate.file} has the same id "${id}".`);
    if (report.definition === null) {
      lines.push(...report.errors.map((issue) => fileIssueLine(file, issue)));
      continue;
    }
    const { description = "", tags = [], draft = false } = report.file;
    const { definition, text: definition_text = null } = report;
    const content = { name: name ?? id, description, tags, definition, definition_text };
    const workflow: FileWorkflow = {
      id,
      project,
      file,
      content,
      current,
      draft,
      issueCount: 0,
      warnings: [],
      nextTimes: [],
    };
    if (duplicate === undefined) pending.set(id, workflow);
    workflows.push(workflow);
  }
  for (const workflow of workflows) {
    const { id, project, file, current, content } = workflow;
    // A workflow that does not change may be a draft with issues.
    if (current !== undefined && isSame(current, content)) continue;
    const { text } = files.find((candidate) => candidate.file === file)!;
    const {
      errors,
      warnings,
      next_runs: nextTimes = [],
    } = await engine.check(text, {
      checkConnections,
      allowFileFields: true,
      project,
      selfId: id,
      ...call,
    });
    const found = errors.map((issue) => fileIssueLine(file, issue));
    workflow.issueCount = found.length;
    workflow.nextTimes = nextTimes;
    workflow.warnings = warnings;
    for (const warning of warnings) io.err(`${fileIssueLine(file, warning, "warning: ")}\n`);
    if (!workflow.draft) lines.push(...found);
    else if (found.length > 0) io.err(`${found.join("\n")}\n${file} is a draft and can be applied.\n`);
  }
  if (lines.length === 0) return workflows;
  throw new CommandError(
    `${lines.join("\n")}\nNothing was applied. (--no-bind skips the checks that need this machine's configuration.)`,
  );
}

/** Which id to add to a file whose name is none. It may be that of a workflow, which the file would replace. */
async function idAdvice({ workflows }: Readers, stem: string, project: string): Promise<string> {
  const id = workflowIdIssue(stem, project)?.did_you_mean ?? workflowSlug(stem, project);
  const holder = await workflows.find(id);
  return holder === undefined
    ? `Add id: ${id}.`
    : `Add id: ${id} if it is the existing workflow ${JSON.stringify(holder.name)}, which it then replaces, or another id.`;
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
  // One with another form is reported already.
  const issue = WORKFLOW_ID.test(id) ? workflowIdIssue(id, project) : undefined;
  if (issue === undefined) return undefined;
  const fix =
    project === DEFAULT_PROJECT && id.includes(".")
      ? `Apply it with --project ${id.split(".")[0]}, or use an id without a dot.`
      : `Add id: ${issue.did_you_mean}`;
  return `the id ${issue.message}. ${fix}`;
}

/** @param label what is written before the path */
function fileIssueLine(
  file: string,
  { path, message, did_you_mean, fix, line = 1, column = 1 }: Issue,
  label = "",
): string {
  const advice = fix ?? (did_you_mean === undefined ? "" : `Did you mean ${did_you_mean}?`);
  return `${file}:${line}:${column}: ${label}${[path, message].filter(Boolean).join(" ")}${advice === "" ? "" : `. ${advice}`}`;
}

async function createPlan(
  { instance }: Operator,
  workflows: readonly FileWorkflow[],
  prunedProject: string | null,
): Promise<Plan> {
  const plan: Omit<Plan, "broken"> = { added: [], changed: [], unchanged: 0, archived: [] };
  for (const workflow of workflows) {
    const { current, content } = workflow;
    if (current === undefined) plan.added.push(workflow);
    else if (isSame(current, content)) plan.unchanged += 1;
    else plan.changed.push({ ...workflow, current });
  }
  if (prunedProject !== null) {
    const ids = new Set(workflows.map(({ id }) => id));
    const existing = await allWorkflows(instance.read.workflows, prunedProject);
    plan.archived = existing.filter(({ id }) => !ids.has(id));
  }
  return { ...plan, broken: await callersLeftBehind(instance.read.workflows, workflows, plan.archived) };
}

const isSame = (current: WrittenWorkflow, content: WorkflowContent): boolean =>
  (Object.keys(content) as (keyof WorkflowContent)[]).every(
    (field) => canonicalJson(current[field]) === canonicalJson(content[field]),
  );

function printPlan(io: Io, { added, changed, unchanged, archived, broken }: Plan): void {
  const { green, red, dim, bold } = paint(io);
  const colour = { added: green, removed: red, same: dim, gap: dim } as const;
  const sign = { added: "+", removed: "-", same: " ", gap: " " } as const;
  const printChange = (title: string, before: string, after: string, times: readonly string[]): void => {
    io.out(`${bold(title)}\n`);
    for (const { kind, text } of lineDiff(before, after))
      io.out(`${colour[kind](`${sign[kind]} ${text}`)}\n`);
    if (times.length > 0) io.out(`Next times of its schedule: ${times.join(", ")}\n`);
    io.out("\n");
  };
  for (const { id, content, draft, nextTimes } of added)
    printChange(`new: ${id}`, "", formatWorkflowFile(id, content, draft), nextTimes);
  for (const { id, content, current, draft, nextTimes } of changed)
    printChange(
      `changed: ${id}`,
      formatWorkflowFile(id, current, isUnpublished(current)),
      formatWorkflowFile(id, content, draft),
      nextTimes,
    );
  for (const { id } of archived) io.out(`${bold(red(`archived: ${id}`))}\n${red(brokenBy(id, broken))}\n`);
  io.out(
    `${added.length} new, ${changed.length} changed, ${unchanged} unchanged, ${archived.length} to be archived\n`,
  );
}

async function commit(
  { services, instance }: Operator,
  { added, changed, archived }: Plan,
  reason: string | null,
): Promise<void> {
  const actor = OPERATOR_ACTOR;
  const intent = { operation: "apply_workflows", actor, requestId: newRequestId() };
  await services.write(intent, async ({ workflows, schedules, expectations }) => {
    for (const { id, project, content } of added)
      await workflows.insert(content, { kind: "created", reason, actor }, { id, project });
    for (const { current, content } of changed) {
      await expectUnchanged(current);
      await workflows.addVersion(current, { ...current, ...content }, { kind: "updated", reason, actor });
    }
    for (const current of archived) {
      await expectUnchanged(current);
      await workflows.addVersion(
        current,
        { ...current, status: "archived" },
        { kind: "archived", reason, actor },
      );
      await schedules.remove(current.id);
      await expectations.remove(current.id);
    }

    async function expectUnchanged({ id, version, status }: WorkflowWithDefinition): Promise<void> {
      const now = await workflows.find(id);
      if (now?.version !== version || now.status !== status)
        throw new CommandError(
          `"${id}" was changed meanwhile. Nothing was applied. Run the command again to see the new changes.`,
        );
    }
  });
  instance.log.info(
    { added: added.length, changed: changed.length, archived: archived.length },
    "workflows applied",
  );
}

/** Sorts workflows: each comes after those of them that it runs, so that it is checked against their new versions. */
function calleesFirst(workflows: readonly FileWorkflow[]): FileWorkflow[] {
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  const ordered = new Set<FileWorkflow>();
  const visited = new Set<string>();
  const visit = (id: string): void => {
    const workflow = byId.get(id);
    if (workflow === undefined || visited.has(id)) return;
    visited.add(id);
    calledWorkflowIds(workflow.content.definition).forEach(visit);
    ordered.add(workflow);
  };
  workflows.forEach(({ id }) => visit(id));
  return [...ordered];
}

/** Publishes one workflow after the other, each after its examples ran; a failure does not stop the others. */
async function publish(io: Io, operator: Operator, workflows: readonly FileWorkflow[]): Promise<void> {
  const failed: string[] = [];
  const ids = workflows.map(({ id }) => id);
  for (const { id, issueCount, warnings: printed } of workflows) {
    if (issueCount > 0) {
      io.out(`not published: ${id} is a draft with ${plural(issueCount, "issue")}\n`);
      continue;
    }
    try {
      // The other ones follow with versions that fit this one.
      const { warnings = [] } = await publishWhenTested(io, operator, {
        workflow_id: id,
        break_callers: ids,
      });
      io.out(`published: ${id}\n`);
      for (const warning of warnings)
        if (!printed.some(({ path, message }) => path === warning.path && message === warning.message))
          io.out(`  warning: ${issueLine(warning)}\n`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed.push(`not published: ${id}: ${refusedPublication(error, id)}`);
    }
  }
  if (failed.length > 0) throw new CommandError(failed.join("\n"));
}
