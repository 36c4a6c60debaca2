/** What `millrace workflows apply` applies files to: the state of this machine, or a server elsewhere. */
import type { Issue } from "../../schemas/problem.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { isNewSource } from "../core/definition-source.ts";
import type { WorkflowContent } from "../core/workflow-ports.ts";
import { calledWorkflowIds } from "../core/workflow-calls.ts";
import type { CallersLeftBehind } from "./callers-left-behind.ts";
import type { Caller, CheckedFile, CheckFileOptions } from "./caller.ts";

/** A workflow as its file describes it. */
export interface FileWorkflow {
  id: string;
  project: string;
  file: string;
  content: WorkflowContent & { definition: Record<string, unknown> };
  /** The text of the definition; null if it is not kept. */
  source: string | null;
  current: WorkflowWithDefinition | undefined;
  /** The text that is kept of the current definition. */
  currentSource: string | null;
  /** Whether the file says that it is a draft, which may have issues. */
  draft: boolean;
  /** Number of issues of a draft. */
  issueCount: number;
}

export interface ApplyPlan {
  added: FileWorkflow[];
  changed: (FileWorkflow & { current: WorkflowWithDefinition })[];
  unchanged: number;
  archived: WorkflowWithDefinition[];
  broken: CallersLeftBehind;
}

interface CheckedChange {
  issues: Issue[];
  /** Issues that may be over when the workflows that it runs are published, and are checked again then. */
  deferred: Issue[];
}

export interface ApplyTarget extends Pick<Caller, "call"> {
  /** @throws AppError project_not_found */
  assertProject(id: string): Promise<void>;
  find(id: string): Promise<WorkflowWithDefinition | undefined>;
  /** The text that is kept of a workflow's definition; null if there is none. */
  sourceOf(workflow: WorkflowWithDefinition): Promise<string | null>;
  /** All workflows of a project that are not archived. */
  all(project: string): Promise<WorkflowWithDefinition[]>;
  /** Reads the fields of a file. Its issues are complete only where the definition is null. */
  read(text: string): Promise<CheckedFile>;
  /** Checks a file as if the pending workflows existed. */
  check(text: string, options: CheckFileOptions): Promise<CheckedChange>;
  /** Finds the published workflows that run one that is to be archived. */
  callersLeftBehind(
    files: readonly FileWorkflow[],
    archived: readonly WorkflowWithDefinition[],
  ): Promise<CallersLeftBehind>;
  /** Writes what the plan says. @throws CommandError when somebody changed a workflow meanwhile */
  commit(plan: ApplyPlan, reason: string | null): Promise<void>;
  /** Whether definitions can be checked without the connections. */
  canSkipConnections: boolean;
  /** Does `work` while executors run, because publishing runs examples. */
  withExecutors<T>(work: () => Promise<T>): Promise<T>;
}

/** Whether a file describes a workflow as it is. */
export const isUnchanged = (
  { name, description, tags, definition }: WorkflowWithDefinition,
  { content, source, currentSource }: FileWorkflow,
): boolean =>
  canonicalJson({ name, description, tags, definition }) === canonicalJson(content) &&
  !isNewSource(source, currentSource);

/** Sorts workflows: each comes after those of them that it runs, so that it is checked against their new versions. */
export function calleesFirst<W extends FileWorkflow>(workflows: readonly W[]): W[] {
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  const ordered = new Set<W>();
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
