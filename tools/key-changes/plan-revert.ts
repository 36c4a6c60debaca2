/** Plans how the changes of a key are taken out of one workflow. */
import { canonicalJson } from "../../src/core/canonical-json.ts";
import { mergeJson } from "../../src/core/json-merge.ts";
import type { WorkflowContent, WorkflowReader } from "../../src/core/ports.ts";
import type { RevertRecord, WorkflowFacts } from "../../src/core/workflow-change-ports.ts";
import {
  type CurrentFacts,
  type KeyHistory,
  type KnownChange,
  type Subject,
  valueBefore,
} from "./history.ts";

/** What a revert of one workflow does. */
export interface RevertPlan {
  /** Archived because the key created it. */
  isCreation: boolean;
  /** The content that it gets, with the version that it comes from; undefined when the content stays. */
  content: { value: WorkflowContent; from: number; isMerged: boolean } | undefined;
  /** The facts that it gets; those that stay are left out. */
  facts: Partial<Pick<WorkflowFacts, "archived" | "published" | "paused" | "consent" | "offers">>;
  /** Facts of the key that stay, because others changed them afterwards. */
  superseded: (keyof WorkflowFacts)[];
  /** Why others' changes keep something that the key did: its project, which a revert does not change. */
  movedFrom: string | undefined;
  /** What the audit log records, so that nothing is reverted twice. */
  record: RevertRecord;
}

/** Why a workflow can't be reverted. */
export interface Obstacle {
  code: "missing_scope" | "changed_since" | "merge_conflict" | "version_pruned" | "not_recorded";
  message: string;
}

export interface PlanOptions {
  /** Whether to take the changes out also where others changed the workflow afterwards. */
  includeLater: boolean;
}

const FACTS = ["archived", "published", "paused", "consent", "offers"] as const;

/**
 * Plans a revert.
 * @param history with at least one own change
 */
export async function planRevert(
  workflows: Pick<WorkflowReader, "findVersion">,
  workflow: { id: string; facts: CurrentFacts },
  subject: Subject,
  history: KeyHistory,
  { includeLater }: PlanOptions,
): Promise<RevertPlan | Obstacle> {
  const { own, others, all } = history;
  const { facts: now } = workflow;
  const isCreation = own[0]!.change.before === null;
  if (others.length > 0 && (!includeLater || isCreation)) return changedSince(others, isCreation);
  const unrecorded = own.find(({ unknown }) => unknown.length > 0);
  if (unrecorded !== undefined && !isCreation) return notRecorded(unrecorded);
  const record = recordOf(subject, history);
  const plan: RevertPlan = {
    isCreation,
    content: undefined,
    facts: {},
    superseded: [],
    movedFrom: undefined,
    record,
  };
  if (isCreation) return { ...plan, facts: factsAfterCreation(now) };
  for (const name of FACTS) {
    const last = valueBefore<WorkflowFacts, KnownChange>(history, name);
    if (last === "superseded") plan.superseded.push(name);
    else if (last !== undefined && canonicalJson(last.value) !== canonicalJson(now[name] ?? null))
      Object.assign(plan.facts, { [name]: last.value });
  }
  const project = valueBefore<WorkflowFacts, KnownChange>(history, "project");
  if (typeof project === "object" && project.value !== now.project) plan.movedFrom = String(project.value);
  const content = await contentWithout(workflows, workflow.id, own, all);
  if (content !== undefined && "code" in content) return content;
  if (content === undefined) return plan;
  const current = await readContent(workflows, workflow.id, now.version);
  return { ...plan, content: isEqual(content.value, current) ? undefined : content };
}

/** What the log records of a revert, so that nothing is reverted twice. @param history with at least one own change */
export const recordOf = (
  { key, client }: Subject,
  { own, others }: KeyHistory<{ id: number }>,
): RevertRecord =>
  others.length === 0
    ? { kind: "rewound", from: own[0]!.id }
    : { kind: "removed", from: own[0]!.id, to: own.at(-1)!.id, lineage: key.lineage, client };

/** Whether a plan changes anything. */
export const isEmptyPlan = ({ content, facts }: RevertPlan): boolean =>
  content === undefined && Object.keys(facts).length === 0;

/** Nothing of what the key created stays in force, also if somebody restores and publishes it later. */
const factsAfterCreation = ({ archived, consent, offers }: CurrentFacts): RevertPlan["facts"] => ({
  ...(!archived && { archived: true }),
  ...(consent !== null && { consent: null }),
  ...(offers.length > 0 && { offers: [] }),
});

/** The content without what the key changed: what was before its first change, with what others changed afterwards. */
async function contentWithout(
  workflows: Pick<WorkflowReader, "findVersion">,
  id: string,
  own: readonly KnownChange[],
  all: readonly KnownChange[],
): Promise<RevertPlan["content"] | Obstacle> {
  const first = own.find(({ change }) => change.after.version !== undefined);
  if (first === undefined) return undefined;
  const from = first.change.before!.version!;
  let value = await readContent(workflows, id, from);
  if (value === undefined) return pruned(id, from);
  let isMerged = false;
  for (const entry of all.slice(all.indexOf(first) + 1)) {
    const { before, after } = entry.change;
    if (own.includes(entry) || before?.version === undefined || after.version === undefined) continue;
    const [base, theirs] = [
      await readContent(workflows, id, before.version),
      await readContent(workflows, id, after.version),
    ];
    if (base === undefined) return pruned(id, before.version);
    if (theirs === undefined) return pruned(id, after.version);
    const { merged, conflicts } = mergeJson(base, value, theirs);
    if (conflicts !== undefined) return mergeConflict(conflicts, entry);
    value = merged as WorkflowContent;
    isMerged = true;
  }
  return { value, from, isMerged };
}

const isEqual = (a: WorkflowContent | undefined, b: WorkflowContent | undefined): boolean =>
  canonicalJson(a ?? null) === canonicalJson(b ?? null);

/** @returns undefined when the version's definition was pruned */
async function readContent(
  workflows: Pick<WorkflowReader, "findVersion">,
  id: string,
  version: number,
): Promise<WorkflowContent | undefined> {
  const found = await workflows.findVersion(id, version);
  if (found === undefined || found.pruned_at !== undefined) return undefined;
  const { name, description, tags, definition = null } = found;
  return { name, description, tags, definition };
}

const changedSince = (others: readonly KnownChange[], isCreation: boolean): Obstacle => {
  const { owner, keyName, change } = others.at(-1)!;
  const who = keyName === null ? owner : `${owner} (${keyName})`;
  const what = change.after.version === undefined ? "" : ` (version ${change.after.version})`;
  return {
    code: "changed_since",
    message: isCreation
      ? `${who} changed it${what} after the key created it. If nobody needs it, archive it.`
      : `${who} changed it${what} after the key. With include_later, only the key's changes are taken out.`,
  };
};

const mergeConflict = (conflicts: readonly string[], { owner, change }: KnownChange): Obstacle => ({
  code: "merge_conflict",
  message:
    `The key and ${owner} (version ${change.after.version}) changed the same parts: ${conflicts.slice(0, 5).join(", ")}` +
    `${conflicts.length > 5 ? `, and ${conflicts.length - 5} more` : ""}. Compare the versions and edit the workflow.`,
});

const pruned = (id: string, version: number): Obstacle => ({
  code: "version_pruned",
  message: `The definition of version ${version} of "${id}" was pruned by the operator. Edit the workflow, or restore a backup.`,
});

const notRecorded = ({ at, unknown }: KnownChange): Obstacle => ({
  code: "not_recorded",
  message:
    `An older release, which did not record what was there before, changed ${unknown.includes("published") ? "the published version" : "the consent to the tool"} ` +
    `at ${at}. Compare the versions in the history, and publish the one that should be live.`,
});
