/** The changes of a key as the API returns them. */
import type {
  ChangedSubscription,
  ChangedWorkflow,
  ChangeKind,
  KeyChanges,
  NotReverted,
  RevertOutcome,
  RotatedTrigger,
} from "../../schemas/key-changes.ts";
import { EVERY_PROJECT, projectField } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { recordedOperation } from "../../src/core/recorded-operations.ts";
import {
  MAX_TARGETS,
  type OperationCount,
  type SubscriptionChangeEntry,
  type WorkflowChange,
} from "../../src/core/workflow-change-ports.ts";
import { serializeApiKey } from "../api-keys/serialize-api-key.ts";
import type { KnownChange } from "./history.ts";
import { isEmptyPlan, type RevertPlan } from "./plan-revert.ts";
import type { ChangedByKey, FoundKeyChanges, Skip, SubscriptionByKey } from "./read-key-changes.ts";
import { remainsOf } from "./subscription-reverts.ts";

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

export const skipped = (workflow: RevertResult["workflow"], { code, message }: Skip): RevertResult => ({
  workflow,
  outcome: "skipped",
  effects: [],
  reason: { code, message },
});

/** What a revert did, or would do. */
export interface RevertResults {
  /** One for each changed workflow. */
  workflows: readonly RevertResult[];
  subscriptions: readonly ChangedSubscription[];
  triggers: readonly RotatedTrigger[];
}

/** What a revert would do, as far as it is planned. @param workflows as `checkReverts` found them */
export const plannedResults = (
  { subscriptions, triggers }: FoundKeyChanges,
  workflows: readonly RevertResult[],
): RevertResults => ({
  workflows,
  subscriptions: subscriptions.map(plannedSubscription),
  triggers: triggers.map(({ result }) => result),
});

export function serializeKeyChanges(
  {
    key,
    subject,
    since,
    activity,
    changed,
    subscriptions: subscribed,
    revertedIds,
    remaining,
  }: FoundKeyChanges,
  { workflows, subscriptions, triggers }: RevertResults,
  now: number,
): KeyChanges {
  const { id, name, owner, state } = serializeApiKey(key, now);
  const isByClient = ({ client }: { client: string }): boolean =>
    subject.client === null || subject.client === client;
  const programs = [
    ...activity.changed,
    ...activity.subscriptions,
    ...activity.rotations,
    ...activity.operations,
    ...activity.unseen,
  ];
  return {
    key: { id, name, owner, state },
    since,
    client: subject.client,
    attribution: [...changed, ...subscribed].some(({ history }) => history.isByName) ? "name" : "key",
    records_since: activity.recordsSince,
    workflows: changed.map((one, index) => serializeWorkflow(one, workflows[index]!)),
    subscriptions: [...subscriptions],
    triggers: [...triggers],
    not_reverted: notReverted(activity.operations.filter(isByClient)),
    unseen: activity.unseen.filter(isByClient).reduce((sum, { count }) => sum + count, 0),
    remaining,
    already_reverted: revertedIds.length,
    clients: [...new Set(programs.map(({ client }) => client))].toSorted(),
  };
}

/** The operations that a revert does nothing about, by operation and project, the last first. */
function notReverted(counts: readonly OperationCount[]): NotReverted[] {
  const groups = Map.groupBy(counts, ({ operation, project }) => JSON.stringify([operation, project]));
  const sums = [...groups.values()].map(sumOf);
  return sums.toSorted((a, b) => b.last_at.localeCompare(a.last_at));
}

/** @param group of one operation in one project, by program */
function sumOf(group: readonly OperationCount[]): NotReverted {
  const { operation, project } = group[0]!;
  const { label, remains } = recordedOperation(operation);
  const times = group.flatMap(({ firstAt, lastAt }) => [firstAt, lastAt]).toSorted();
  return {
    operation,
    label,
    ...projectField(project),
    count: group.reduce((sum, { count }) => sum + count, 0),
    first_at: times[0]!,
    last_at: times.at(-1)!,
    targets: [...new Set(group.flatMap(({ targets }) => targets))].slice(0, MAX_TARGETS),
    remains,
  };
}

/** A subscription with what a revert would do about it. */
export function plannedSubscription({
  id,
  project,
  current,
  history,
  plan,
}: SubscriptionByKey): ChangedSubscription {
  const remains = remainsOf(current, history, plan);
  const isObstacle = plan !== undefined && "code" in plan;
  const doesNothing =
    plan === undefined || isObstacle || (!plan.isCreation && Object.keys(plan.given).length === 0);
  const recorded = history.own.findLast(({ change }) => change.before?.name ?? change.after.name)?.change;
  return {
    subscription_id: id,
    name: current?.name ?? recorded?.before?.name ?? recorded?.after.name ?? null,
    ...projectField(project),
    changes: operationsOf(history.listed),
    outcome: isObstacle
      ? "skipped"
      : !doesNothing
        ? "revertible"
        : remains.length > 0
          ? "in_force"
          : "unchanged",
    effects: plan === undefined || isObstacle ? [] : plan.effects,
    reason: isObstacle ? plan : null,
    remains,
  };
}

function operationsOf(entries: readonly SubscriptionChangeEntry[]): ChangedSubscription["changes"] {
  return [...Map.groupBy(entries, ({ operation }) => operation)].map(([operation, group]) => ({
    operation,
    label: recordedOperation(operation).label,
    count: group.length,
    first_at: group[0]!.at,
    last_at: group.at(-1)!.at,
  }));
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
  if (after.offers !== undefined) return after.offers.length === 0 ? "offer_withdrawn" : "offered";
  return "moved";
}

const FACT_NAMES = {
  archived: "whether it is archived",
  published: "the published version",
  paused: "whether its schedule is paused",
  consent: "the consent to it as a tool",
  offers: "which projects it is offered to",
} as const;

/** What a plan does, in words. @param version the number of the new version, if it makes one */
export function effectsOf(
  { isCreation, content, facts, superseded, movedFrom }: RevertPlan,
  version: number,
): string[] {
  const { archived, published, paused, consent, offers } = facts;
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
    ...(offers === undefined
      ? []
      : [
          offers.length === 0
            ? "it is not offered to other projects any more"
            : offers.includes(EVERY_PROJECT)
              ? "it is offered to every project, as before"
              : `it is offered to ${offers.join(", ")}, as before, and to no other project`,
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
