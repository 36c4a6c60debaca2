/** Reads a whole file before anything is written: its faults, and what it would change here. */
import { createHash, type Hash } from "node:crypto";
import type { Workflow } from "../../../schemas/workflow.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { EngineApi } from "../../core/engine-port.ts";
import type { Readers } from "../../core/ports.ts";
import type { KeyLine, Line, UserLine, VersionLine, WorkflowLine } from "./format.ts";
import { type NumberedLine, readLines } from "./lines.ts";
import { workflowLines } from "./write.ts";

/** As many faults are told. */
const MOST_ISSUES = 100;

export interface ImportPlan {
  /** Lines to print, `file:line: …`; with any of them nothing may be imported. */
  issues: string[];
  users: UserLine[];
  /** People who are here already, and are left as they are; `differs` where the file says otherwise. */
  existingUsers: { email: string; differs: string | null }[];
  workflows: string[];
  /** Workflows that are here already with the very same history. */
  unchangedWorkflows: number;
  /** Workflows that are here with another history. */
  conflictingWorkflows: string[];
  schedules: number;
  keys: KeyLine[];
  /** Runs and audit entries: told, not taken over. */
  ignoredRecords: number;
}

interface Current {
  number: number;
  workflow: WorkflowLine;
  /** The last version that was read. */
  version: number;
  hash: Hash;
}

/** @param read what is here */
export async function planImport(
  file: string,
  read: Readers,
  engine: Pick<EngineApi, "check">,
): Promise<ImportPlan> {
  const survey: ImportPlan = {
    issues: [],
    users: [],
    existingUsers: [],
    workflows: [],
    unchangedWorkflows: 0,
    conflictingWorkflows: [],
    schedules: 0,
    keys: [],
    ignoredRecords: 0,
  };
  const seen = new Map<string, number>();
  let current: Current | undefined;
  let last: NumberedLine | undefined;

  const issue = (number: number, what: string): void => {
    if (survey.issues.length < MOST_ISSUES) survey.issues.push(`${file}:${number}: ${what}`);
  };
  /** @returns whether it stands here for the first time */
  const first = (number: number, what: string): boolean => {
    const before = seen.get(what);
    if (before !== undefined) issue(number, `${what} stands in line ${before} too; take one of them away`);
    else seen.set(what, number);
    return before === undefined;
  };

  async function endWorkflow(): Promise<void> {
    if (current === undefined) return;
    const { number, workflow, version, hash } = current;
    current = undefined;
    if (version !== workflow.version) {
      issue(
        number,
        `version is ${workflow.version}, but ${version} versions follow; the file was cut or changed`,
      );
      return;
    }
    const here = await read.workflows.find(workflow.id);
    if (here === undefined) {
      survey.workflows.push(workflow.id);
      if (workflow.schedule !== null) survey.schedules += 1;
    } else if ((await hashHere(read, here)) === hash.digest("hex")) survey.unchangedWorkflows += 1;
    else survey.conflictingWorkflows.push(workflow.id);
  }

  async function onUser(number: number, user: UserLine): Promise<void> {
    if (!first(number, `the user ${user.email}`) || !first(number, `the id ${user.id}`)) return;
    const here = await read.users.findByEmail(user.email);
    if (here !== undefined) {
      const differs = here.role === user.role ? null : `${here.role} here, ${user.role} in the file`;
      survey.existingUsers.push({ email: user.email, differs });
    } else if ((await read.users.find(user.id)) !== undefined)
      issue(number, `the id ${user.id} is that of somebody else here; give ${user.email} another one`);
    else survey.users.push(user);
  }

  function onWorkflow(number: number, workflow: WorkflowLine): void {
    current = { number, workflow, version: 0, hash: createHash("sha256") };
    addTo(current.hash, workflow);
    first(number, `the workflow ${workflow.id}`);
    const { status, version, published_version: live, schedule } = workflow;
    if (live !== null && live > version)
      issue(number, `published_version is ${live}, but version is ${version}`);
    if ((status === "published") !== (live !== null) && status !== "archived")
      issue(number, `status is ${status}, but published_version is ${live}; one of them is wrong`);
    if (schedule !== null && status !== "published")
      issue(number, "schedule must be null, because only a published workflow has one");
  }

  async function onVersion(number: number, version: VersionLine): Promise<void> {
    if (current === undefined || version.workflow_id !== current.workflow.id) {
      issue(number, `belongs behind the line of its workflow ${version.workflow_id}`);
      return;
    }
    const { workflow, hash } = current;
    if (version.version !== current.version + 1)
      issue(number, `version is ${version.version}, but ${current.version + 1} comes next`);
    current.version = version.version;
    addTo(hash, version);
    // Older ones and drafts may have faults: they were saved with them, and nobody runs them.
    if (version.version !== workflow.published_version) return;
    const options = { checkConnections: false, selfId: workflow.id, signal: new AbortController().signal };
    const { errors } = await engine.check(version.definition ?? {}, options);
    for (const { path, message, fix } of errors)
      issue(number, `definition.${path} ${message}${fix === undefined ? "" : `. ${fix}`}`);
    const scheduled = version.definition?.["schedule"] !== undefined;
    if (workflow.schedule !== null && !scheduled)
      issue(number, "its workflow has a schedule, but this published definition has none");
  }

  async function onLine({ number, line }: { number: number; line: Line }): Promise<void> {
    if (line.kind !== "version") await endWorkflow();
    switch (line.kind) {
      case "millrace_export":
        if (number !== 1) issue(number, "a second head: two files were put together; import each of them");
        return;
      case "user":
        return onUser(number, line);
      case "workflow":
        return onWorkflow(number, line);
      case "version":
        return onVersion(number, line);
      case "api_key":
        survey.keys.push(line);
        return;
      case "end":
        if (line.lines !== number - 1)
          issue(number, `there should be ${line.lines} lines before this one; the file was changed`);
        return;
      case "run":
      case "run_step":
      case "audit_entry":
        survey.ignoredRecords += 1;
        return;
    }
  }

  for await (const it of readLines(file)) {
    if (last?.line?.kind === "end") issue(it.number, "stands behind the end; take it away");
    last = it;
    for (const what of it.issues) issue(it.number, what);
    if (it.line !== undefined) await onLine({ number: it.number, line: it.line });
  }
  await endWorkflow();
  if (last !== undefined && last.line?.kind !== "end")
    issue(last.number, "the end is missing: the file was cut off; export it again");
  return survey;
}

/** A schedule's state changes all the time, and makes no other workflow of it. */
const addTo = (hash: Hash, line: WorkflowLine | VersionLine): void =>
  void hash.update(`${canonicalJson({ ...line, schedule: null })}\n`);

async function hashHere(read: Readers, here: Workflow): Promise<string> {
  const hash = createHash("sha256");
  for await (const line of workflowLines(read, here)) addTo(hash, line);
  return hash.digest("hex");
}
