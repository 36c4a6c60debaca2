/** The changes of a key as the API returns them. */
import type { ChangedWorkflow, ChangeKind, KeyChanges, RevertOutcome } from "../../schemas/key-changes.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import type { WorkflowChange } from "../../src/core/workflow-change-ports.ts";
import { serializeApiKey } from "../api-keys/serialize-api-key.ts";
import type { KnownChange } from "./history.ts";
import { isEmptyPlan, type RevertPlan } from "./plan-revert.ts";
import type { ChangedByKey, FoundKeyChanges } from "./read-key-changes.ts";

/** Number of changes of others in a response. */
const MAX_OTHERS = 10;

/** What a revert did to a workflow, or would do. */
export interface RevertResult {
  workflow: Pick<WorkflowWithDefinition, "status" | "version" | "published_version">;
  outcome: RevertOutcome;
  effects: string[];
  reason: ChangedWorkflow["reason"];
}

/** What a plan does, or what stands in its way, as far as the records tell. */
export function plannedResult({ workflow, plan }: ChangedByKey): RevertResult {
  if ("code" in plan) return skipped(workflow, plan);
  const effects = effectsOf(plan, workflow.version + 1);
  return { workflow, outcome: isEmptyPlan(plan) ? "unchanged" : "revertible", effects, reason: null };
}

export const skipped = (
  workflow: RevertResult["workflow"],
  { code, message }: { code: string; message: string },
): RevertResult => ({ workflow, outcome: "skipped", effects: [], reason: { code, message } });

/** @param results one for each changed workflow */
export function serializeKeyChanges(
  { key, subject, since, activity, changed, revertedIds, remaining }: FoundKeyChanges,
  results: readonly RevertResult[],
  now: number,
): KeyChanges {
  const { id, name, owner, state } = serializeApiKey(key, now);
  const count = (operation: string): number =>
    activity.counts
      .filter((entry) => entry.operation === operation)
      .filter(({ client }) => subject.client === null || subject.client === client)
      .reduce((sum, entry) => sum + entry.count, 0);
  return {
    key: { id, name, owner, state },
    since,
    client: subject.client,
    attribution: changed.some(({ history }) => history.isByName) ? "name" : "key",
    records_since: activity.recordsSince,
    workflows: changed.map((one, index) => serializeWorkflow(one, results[index]!)),
    remaining,
    already_reverted: revertedIds.length,
    clients: [...new Set([...activity.changed, ...activity.counts].map(({ client }) => client))].toSorted(),
    not_revertible: {
      runs_started: count("run_workflow"),
      runs_retried: count("retry_run"),
      runs_cancelled: count("cancel_run"),
      approvals_decided: count("decide_approval"),
      states_set: count("set_workflow_state"),
    },
  };
}

function serializeWorkflow(
  { workflow: { id, name, project }, history }: ChangedByKey,
  { workflow, outcome, effects, reason }: RevertResult,
): ChangedWorkflow {
  const { status, version, published_version } = workflow;
  return {
    workflow_id: id,
    name,
    ...(project !== undefined && { project }),
    status,
    version,
    published_version,
    changes: summarize(history.own),
    outcome,
    effects,
    reason,
    changed_since: history.others.slice(-MAX_OTHERS).map(({ owner, keyName, at, change }) => ({
      owner,
      key_name: keyName,
      at,
      change: kindOf(change),
      version: change.after.version ?? null,
    })),
  };
}

/** The changes by kind, in the order in which each kind occurred first. */
function summarize(changes: readonly KnownChange[]): ChangedWorkflow["changes"] {
  const byKind = Map.groupBy(changes, ({ change }) => kindOf(change));
  return [...byKind].map(([change, entries]) => {
    const [first, last] = [entries[0]!, entries.at(-1)!];
    const fact = change === "published" || change === "unpublished" ? "published" : "version";
    return {
      change,
      count: entries.length,
      from: first.change.before?.[fact] ?? null,
      to: last.change.after[fact] ?? null,
      first_at: first.at,
      last_at: last.at,
    };
  });
}

function kindOf({ before, after }: WorkflowChange): ChangeKind {
  if (before === null) return "created";
  if (after.archived !== undefined) return after.archived ? "archived" : "restored";
  if (after.version !== undefined) return "edited";
  if (after.published !== undefined) return after.published === null ? "unpublished" : "published";
  if (after.paused !== undefined) return after.paused ? "schedule_paused" : "schedule_resumed";
  if (after.consent !== undefined) return after.consent === null ? "exposure_withdrawn" : "exposure_allowed";
  return "moved";
}

const FACT_NAMES = {
  archived: "whether it is archived",
  published: "the published version",
  paused: "whether its schedule is paused",
  consent: "the consent to it as a tool",
} as const;

/** What a plan does, in words. @param version the number of the new version, if it makes one */
export function effectsOf(
  { isCreation, content, facts, superseded, movedFrom }: RevertPlan,
  version: number,
): string[] {
  const { archived, published, paused, consent } = facts;
  return [
    ...(isCreation && archived ? ["it is archived, because the key created it"] : []),
    ...(!isCreation && archived ? ["it is archived again"] : []),
    ...(archived === false ? ["it is restored"] : []),
    ...(content === undefined
      ? []
      : [
          `version ${version} gets the content of version ${content.from}` +
            (content.isMerged ? ", with what others changed afterwards" : ""),
        ]),
    ...(typeof published === "number" ? [`version ${published} is published again`] : []),
    ...(published === null ? ["it is no longer published, as before"] : []),
    ...(paused === undefined ? [] : [paused ? "its schedule is paused again" : "its schedule is resumed"]),
    ...(consent === undefined
      ? []
      : [
          consent === null
            ? "the consent to it as a tool is withdrawn"
            : "the consent to it as a tool holds again",
        ]),
    ...superseded.flatMap((name) =>
      name in FACT_NAMES
        ? [`${FACT_NAMES[name as keyof typeof FACT_NAMES]} stays, because others changed it afterwards`]
        : [],
    ),
    ...(movedFrom === undefined
      ? []
      : [`it stays in its project; before the key moved it, that was "${movedFrom}"`]),
  ];
}
