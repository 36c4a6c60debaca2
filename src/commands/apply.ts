/** `millrace workflows apply`: makes the workflows what a directory of files says, all of them or none. */
import type { Issue } from "../../schemas/problem.ts";
import { MAX_VERSION, type WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { publishWorkflow } from "../../tools/workflows/publish-workflow.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { AppError } from "../core/errors.ts";
import { newRequestId } from "../core/ids.ts";
import type { Readers, WorkflowContent } from "../core/ports.ts";
import { withExecutor, inProcessExecutor } from "./in-process-executor.ts";
import { CommandError, EXIT, type Io, paint } from "./io.ts";
import { lineDiff } from "./line-diff.ts";
import { OPERATOR_ACTOR, withOperator, type Operator } from "./operator.ts";
import { allWorkflows, formatWorkflowFile, readWorkflowFiles } from "./workflow-files.ts";

export interface ApplyOptions {
  yes?: boolean;
  dryRun?: boolean;
  /** Archives what has no file. */
  prune?: boolean;
  /** Publishes what it changed. */
  publish?: boolean;
  /** Whether databases, models and servers are asked; `--no-bind` checks the form only. */
  bind: boolean;
  reason?: string;
  config?: string;
}

export interface ApplyHost {
  /** Asks the person at the terminal; undefined where there is none. */
  ask(question: string): Promise<string | undefined>;
}

/** A workflow as its file wants it. */
interface Wanted {
  id: string;
  file: string;
  content: WorkflowContent & { definition: Record<string, unknown> };
  current: WorkflowWithDefinition | undefined;
}

interface Plan {
  added: Wanted[];
  changed: (Wanted & { current: WorkflowWithDefinition })[];
  unchanged: number;
  archived: WorkflowWithDefinition[];
}

/** Applies the files of a directory after all of them were checked and the difference was confirmed. */
export async function applyWorkflows(
  io: Io,
  host: ApplyHost,
  directory: string,
  options: ApplyOptions,
): Promise<void> {
  const files = readWorkflowFiles(directory);
  const pending = new Map<string, Wanted>();
  const own = inProcessExecutor();
  const opened = {
    config: options.config,
    executors: own,
    overlay: (read: Readers) => withPending(read, pending),
  };
  await withOperator(io, opened, async (operator) => {
    const wanted = await checked(operator, files, pending, options.bind);
    const plan = await planOf(operator, wanted, options.prune === true);
    show(io, plan);
    const { added, changed, archived } = plan;
    if (added.length + changed.length + archived.length === 0 || options.dryRun) return;
    if (!options.yes) await confirm(host, "Apply this?", "applied");
    await commit(operator, plan, options.reason ?? null);
    io.out("Applied.\n");
    pending.clear();
    if (options.publish)
      await withExecutor(io, operator, own, () =>
        publish(
          io,
          operator,
          [...added, ...changed].map(({ id }) => id),
        ),
      );
  });
}

/** What files want stands before what is: one may run another that is new in the same directory. */
function withPending(read: Readers, pending: ReadonlyMap<string, Wanted>): Readers {
  return {
    ...read,
    workflows: {
      ...read.workflows,
      async find(id) {
        const found = await read.workflows.find(id);
        const wanted = pending.get(id);
        if (wanted === undefined) return found;
        const blank = { created_at: "", updated_at: "", created_by: "" };
        return {
          ...blank,
          ...found,
          ...wanted.content,
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

/** @throws CommandError with the faults of all files */
async function checked(
  { services }: Operator,
  files: ReturnType<typeof readWorkflowFiles>,
  pending: Map<string, Wanted>,
  checkConnections: boolean,
): Promise<Wanted[]> {
  const signal = new AbortController().signal;
  const { engine, read } = services;
  const lines: string[] = [];
  const wanted: Wanted[] = [];
  for (const { file, stem, text } of files) {
    const report = await engine.check(text, { checkConnections: false, allowFileFields: true, signal });
    const id = report.file.id ?? stem;
    const current = await read.workflows.find(id);
    const name = report.file.name ?? current?.name;
    if (report.file.id === undefined && !/^[a-z0-9][a-z0-9-]{0,199}$/.test(stem))
      lines.push(
        `${file}:1:1: id is missing, and the file's name is none. Write id: <lower-case-with-dashes>.`,
      );
    if (name === undefined) lines.push(`${file}:1:1: name is missing, and a new workflow needs one.`);
    if (current?.status === "archived")
      lines.push(`${file}:1:1: "${id}" is archived. Restore it first, or take the file away.`);
    const twice = pending.get(id);
    if (twice !== undefined) lines.push(`${file}:1:1: the id "${id}" stands in ${twice.file} too.`);
    if (report.definition === null) {
      lines.push(...report.errors.map((issue) => issueLine(file, issue)));
      continue;
    }
    const { description = "", tags = [] } = report.file;
    const content = { name: name ?? id, description, tags, definition: report.definition };
    const it: Wanted = { id, file, content, current };
    if (twice === undefined) pending.set(id, it);
    wanted.push(it);
  }
  for (const { id, file, current, content } of wanted) {
    // What stays as it is has its faults already: a draft may.
    if (current !== undefined && isSame(current, content)) continue;
    const { text } = files.find((it) => it.file === file)!;
    const { errors } = await engine.check(text, {
      checkConnections,
      allowFileFields: true,
      selfId: id,
      signal,
    });
    lines.push(...errors.map((issue) => issueLine(file, issue)));
  }
  if (lines.length === 0) return wanted;
  throw new CommandError(
    `${lines.join("\n")}\nNothing was applied. (--no-bind leaves out what this machine's configuration lacks.)`,
  );
}

function issueLine(file: string, { path, message, did_you_mean, fix, line = 1, column = 1 }: Issue): string {
  const advice = fix ?? (did_you_mean === undefined ? "" : `Did you mean ${did_you_mean}?`);
  return `${file}:${line}:${column}: ${[path, message].filter(Boolean).join(" ")}${advice === "" ? "" : `. ${advice}`}`;
}

async function planOf({ instance }: Operator, wanted: readonly Wanted[], prune: boolean): Promise<Plan> {
  const plan: Plan = { added: [], changed: [], unchanged: 0, archived: [] };
  for (const it of wanted) {
    if (it.current === undefined) plan.added.push(it);
    else if (isSame(it.current, it.content)) plan.unchanged += 1;
    else plan.changed.push({ ...it, current: it.current });
  }
  if (prune) {
    const ids = new Set(wanted.map(({ id }) => id));
    plan.archived = (await allWorkflows(instance.read.workflows)).filter(({ id }) => !ids.has(id));
  }
  return plan;
}

const isSame = (current: WorkflowWithDefinition, wanted: WorkflowContent): boolean =>
  canonicalJson(contentOf(current)) === canonicalJson(wanted);

const contentOf = ({ name, description, tags, definition }: WorkflowWithDefinition): WorkflowContent => ({
  name,
  description,
  tags,
  definition,
});

function show(io: Io, { added, changed, unchanged, archived }: Plan): void {
  const { green, red, dim, bold } = paint(io);
  const shown = { added: green, removed: red, same: dim, gap: dim } as const;
  const sign = { added: "+", removed: "-", same: " ", gap: " " } as const;
  const change = (title: string, before: string, after: string): void => {
    io.out(`${bold(title)}\n`);
    for (const { kind, text } of lineDiff(before, after)) io.out(`${shown[kind](`${sign[kind]} ${text}`)}\n`);
    io.out("\n");
  };
  for (const { id, content } of added) change(`new: ${id}`, "", formatWorkflowFile(id, content));
  for (const { id, content, current } of changed)
    change(`changed: ${id}`, formatWorkflowFile(id, current), formatWorkflowFile(id, content));
  for (const { id } of archived) io.out(`${bold(red(`archived: ${id}`))}\n\n`);
  io.out(
    `${added.length} new, ${changed.length} changed, ${unchanged} unchanged, ${archived.length} to be archived\n`,
  );
}

/** @throws CommandError where nobody says yes */
export async function confirm(host: ApplyHost, question: string, done: string): Promise<void> {
  const answer = await host.ask(`${question} [y/N] `);
  if (answer === undefined)
    throw new CommandError(`Nothing was ${done}: there is nobody to confirm it. Say --yes.`, EXIT.usage);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError(`Nothing was ${done}.`);
}

async function commit(
  { services, instance }: Operator,
  { added, changed, archived }: Plan,
  reason: string | null,
): Promise<void> {
  const actor = OPERATOR_ACTOR;
  const intent = { operation: "apply_workflows", actor, requestId: newRequestId() };
  await services.write(intent, async ({ workflows, schedules }) => {
    for (const { id, content } of added)
      await workflows.insert(content, { kind: "created", reason, actor }, id);
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
    }

    async function expectUnchanged({ id, version, status }: WorkflowWithDefinition): Promise<void> {
      const now = await workflows.find(id);
      if (now?.version !== version || now.status !== status)
        throw new CommandError(
          `"${id}" was changed meanwhile. Nothing was applied. Look at the difference again.`,
        );
    }
  });
  instance.log.info({ added: added.length, changed: changed.length, archived: archived.length }, "applied");
}

/** What is published runs its examples first; one that fails leaves the others as they are. */
async function publish(io: Io, { call }: Operator, ids: readonly string[]): Promise<void> {
  const failed: string[] = [];
  for (const id of ids) {
    try {
      await call(publishWorkflow, { workflow_id: id });
      io.out(`published: ${id}\n`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed.push(`not published: ${id}: ${error.message}`);
    }
  }
  if (failed.length > 0) throw new CommandError(failed.join("\n"));
}
