/** Reads a whole export before anything is written, and finds its issues and what it would add. */
import { EVERY_PROJECT, projectOf } from "../../../schemas/project.ts";
import { createHash, type Hash } from "node:crypto";
import { COMMAND_LINE } from "../../../schemas/actor.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import type { EngineApi } from "../../core/engine-port.ts";
import { saysDefinition } from "../../engine/definition/check/index.ts";
import type { Readers } from "../../core/ports.ts";
import type {
  KeyLine,
  Line,
  ProjectLine,
  SubscriptionLine,
  UserLine,
  VersionLine,
  WorkflowLine,
} from "./format.ts";
import { compareProject } from "./projects.ts";
import { type NumberedLine, readLines } from "./lines.ts";
import { subscriptionIssues } from "./subscriptions.ts";
import { workflowLines } from "./write.ts";

/** Maximum number of issues that are reported. */
const MAX_ISSUES = 100;

export interface ImportPlan {
  /** Lines to print, `file:line: …`. With any issue, nothing is imported. */
  issues: string[];
  projects: ProjectLine[];
  /** Projects that exist here and are skipped; `differs` names what the file has otherwise. */
  existingProjects: { id: string; differs: string | null }[];
  users: UserLine[];
  /** Users that exist here and are skipped; `differs` says how the file differs. */
  existingUsers: { email: string; differs: string | null }[];
  workflows: string[];
  /** Number of workflows that exist here with the same history. */
  unchangedWorkflows: number;
  /** Ids of workflows that exist here with another history. */
  conflictingWorkflows: string[];
  schedules: number;
  /** Those that this instance lacks. */
  subscriptions: SubscriptionLine[];
  keys: KeyLine[];
  /** Number of lines about runs and audit entries, which are not imported. */
  ignoredRecords: number;
}

interface Current {
  number: number;
  workflow: WorkflowLine;
  /** The last version read so far. */
  version: number;
  hash: Hash;
}

/** @param read the data of this instance */
export async function planImport(
  file: string,
  read: Readers,
  engine: Pick<EngineApi, "check">,
): Promise<ImportPlan> {
  const plan: ImportPlan = {
    issues: [],
    projects: [],
    existingProjects: [],
    users: [],
    existingUsers: [],
    workflows: [],
    unchangedWorkflows: 0,
    conflictingWorkflows: [],
    schedules: 0,
    subscriptions: [],
    keys: [],
    ignoredRecords: 0,
  };
  const seen = new Map<string, number>();
  const known = new Set<string>();
  let current: Current | undefined;
  let last: NumberedLine | undefined;

  const addIssue = (number: number, message: string): void => {
    if (plan.issues.length < MAX_ISSUES) plan.issues.push(`${file}:${number}: ${message}`);
  };
  /** Adds an issue for a duplicate. @returns whether this is the first one */
  const checkUnique = (number: number, subject: string): boolean => {
    const first = seen.get(subject);
    if (first !== undefined)
      addIssue(number, `${subject} is already in line ${first}. Remove one of the lines`);
    else seen.set(subject, number);
    return first === undefined;
  };

  async function endWorkflow(): Promise<void> {
    if (current === undefined) return;
    const { number, workflow, version, hash } = current;
    current = undefined;
    if (version !== workflow.version) {
      addIssue(
        number,
        `version is ${workflow.version}, but ${version} versions follow. The file was truncated or changed; export it again`,
      );
      return;
    }
    const existing = await read.workflows.find(workflow.id);
    if (existing === undefined) {
      plan.workflows.push(workflow.id);
      if (workflow.schedule !== null) plan.schedules += 1;
    } else if ((await historyHash(read, existing)) === hash.digest("hex")) plan.unchangedWorkflows += 1;
    else plan.conflictingWorkflows.push(workflow.id);
  }

  async function onProject(number: number, project: ProjectLine): Promise<void> {
    if (!checkUnique(number, `the project ${project.id}`)) return;
    known.add(project.id);
    const outcome = await compareProject(read.projects, project);
    if (outcome.isNew) plan.projects.push(project);
    else plan.existingProjects.push({ id: project.id, differs: outcome.differs });
  }

  async function onUser(number: number, user: UserLine): Promise<void> {
    if (!checkUnique(number, `the user ${user.email}`) || !checkUnique(number, `the id ${user.id}`)) return;
    const existing = await read.users.findByEmail(user.email);
    if (existing !== undefined) {
      const differs = existing.role === user.role ? null : `${existing.role} here, ${user.role} in the file`;
      plan.existingUsers.push({ email: user.email, differs });
    } else if ((await read.users.find(user.id)) !== undefined)
      addIssue(number, `the id ${user.id} belongs to another user here. Give ${user.email} another id`);
    else plan.users.push(user);
  }

  async function checkProjects(
    number: number,
    { project, offers = [] }: Pick<WorkflowLine, "project" | "offers">,
  ): Promise<void> {
    for (const id of [...(project === undefined ? [] : [project]), ...offers]) {
      if (id === EVERY_PROJECT || known.has(id)) continue;
      if ((await read.projects.find(id)) === undefined)
        addIssue(number, `the project ${id} is neither here nor in the lines before. Create it first`);
      else known.add(id);
    }
  }

  async function onSubscription(number: number, line: SubscriptionLine): Promise<void> {
    if (!checkUnique(number, `the subscription ${line.id}`)) return;
    if ((await read.subscriptions.find(line.id)) !== undefined) return;
    await checkProjects(number, line);
    for (const issue of await subscriptionIssues(read, line, plan.subscriptions)) addIssue(number, issue);
    plan.subscriptions.push(line);
  }

  async function onWorkflow(number: number, workflow: WorkflowLine): Promise<void> {
    current = { number, workflow, version: 0, hash: createHash("sha256") };
    addTo(current.hash, workflow);
    checkUnique(number, `the workflow ${workflow.id}`);
    await checkProjects(number, workflow);
    const { status, version, published_version: published, schedule } = workflow;
    if (published !== null && published > version)
      addIssue(number, `published_version must be at most version (${version}), got ${published}`);
    if ((status === "published") !== (published !== null) && status !== "archived")
      addIssue(number, `status ${status} does not fit published_version ${published}. Correct one of them`);
    if (workflow.triggers !== undefined && status !== "published")
      addIssue(number, "triggers must be left out, because the workflow is not published");
    if (schedule !== null && status !== "published")
      addIssue(number, "schedule must be null, because the workflow is not published");
  }

  async function onVersion(number: number, version: VersionLine): Promise<void> {
    if (current === undefined || version.workflow_id !== current.workflow.id) {
      addIssue(number, `this version must follow the line of its workflow ${version.workflow_id}`);
      return;
    }
    const { workflow, hash } = current;
    if (version.version !== current.version + 1)
      addIssue(number, `version must be ${current.version + 1}, got ${version.version}`);
    current.version = version.version;
    addTo(hash, version);
    const { definition, definition_text: text } = version;
    if (text !== undefined && (definition === null || !saysDefinition(text, definition)))
      addIssue(number, "definition_text must say the definition, or be left out");
    // Older versions and drafts may have been saved with issues; they do not run.
    if (version.version !== workflow.published_version) return;
    const call = { owner: COMMAND_LINE, signal: new AbortController().signal };
    const options = { checkConnections: false, project: projectOf(workflow), selfId: workflow.id, ...call };
    const { errors } = await engine.check(version.definition ?? {}, options);
    for (const { path, message, fix } of errors)
      addIssue(number, `definition.${path} ${message}${fix === undefined ? "" : `. ${fix}`}`);
    const scheduled = version.definition?.["schedule"] !== undefined;
    if (workflow.schedule !== null && !scheduled)
      addIssue(number, "the workflow has a schedule, but its published definition has none");
  }

  async function onLine({ number, line }: { number: number; line: Line }): Promise<void> {
    if (line.kind !== "version") await endWorkflow();
    switch (line.kind) {
      case "millrace_export":
        if (number !== 1)
          addIssue(number, "this is a second head: two exports were joined. Import them one by one");
        return;
      case "project":
        return onProject(number, line);
      case "user":
        return onUser(number, line);
      case "workflow":
        return onWorkflow(number, line);
      case "version":
        return onVersion(number, line);
      case "subscription":
        return onSubscription(number, line);
      case "api_key":
        plan.keys.push(line);
        return;
      case "end":
        if (line.lines !== number - 1)
          addIssue(
            number,
            `lines is ${line.lines}, but ${number - 1} lines precede the end. The file was changed; export it again`,
          );
        return;
      case "run":
      case "run_step":
      case "audit_entry":
        plan.ignoredRecords += 1;
        return;
    }
  }

  for await (const numbered of readLines(file)) {
    const { number, line, issues } = numbered;
    if (last?.line?.kind === "end") addIssue(number, "this line is after the end. Remove it");
    last = numbered;
    for (const message of issues) addIssue(number, message);
    if (line !== undefined) await onLine({ number, line });
  }
  await endWorkflow();
  if (last !== undefined && last.line?.kind !== "end")
    addIssue(last.number, "the end line is missing: the file was truncated. Export it again");
  return plan;
}

/** Leaves out what changes without a new version: the schedule, the triggers, the state, the project and offers. */
const addTo = (hash: Hash, line: WorkflowLine | VersionLine): void =>
  void hash.update(
    `${canonicalJson({ ...line, schedule: null, triggers: null, state: null, project: null, offers: null })}\n`,
  );

async function historyHash(read: Readers, workflow: Workflow): Promise<string> {
  const hash = createHash("sha256");
  for await (const line of workflowLines(read, workflow)) addTo(hash, line);
  return hash.digest("hex");
}
