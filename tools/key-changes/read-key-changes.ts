/** Finds what a key changed, and plans a revert for each workflow, subscription and trigger. */
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { isInstanceAdmin, scopesIn } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { SubscriptionRecord } from "../../src/core/subscription-ports.ts";
import type { KeyActivity } from "../../src/core/workflow-change-ports.ts";
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { findApiKey } from "../api-keys/find-api-key.ts";
import { type CurrentFacts, type KeyHistory, readHistory, type Subject } from "./history.ts";
import { type Obstacle, planRevert, type RevertPlan } from "./plan-revert.ts";
import {
  planSubscription,
  readSubscriptionHistory,
  type SubscriptionHistory,
  type SubscriptionPlan,
} from "./subscription-reverts.ts";
import { readTriggers, type TriggerByKey } from "./trigger-reverts.ts";

/** Maximum number of workflows, of subscriptions, and of triggers in a response, and that one request reverts. */
const MAX_LISTED = 200;

/** A workflow that a key changed, with the plan of its revert or what stands in the way. */
export interface ChangedByKey {
  workflow: WorkflowWithDefinition;
  history: KeyHistory;
  plan: RevertPlan | Obstacle;
}

/** A subscription that a key changed. */
export interface SubscriptionByKey {
  id: string;
  project: string;
  /** Undefined once it is deleted. */
  current: SubscriptionRecord | undefined;
  history: SubscriptionHistory;
  /** Undefined where nothing is left to revert. */
  plan: SubscriptionPlan | Skip | undefined;
}

/** Why something is not reverted: an obstacle of the plan, or an error of the revert. */
export type Skip = Readonly<{ code: string; message: string }>;

export interface FoundKeyChanges {
  key: ApiKeyWithOwner;
  subject: Subject;
  since: string;
  activity: KeyActivity;
  changed: ChangedByKey[];
  subscriptions: SubscriptionByKey[];
  triggers: TriggerByKey[];
  /** Ids of the workflows and subscriptions whose changes are reverted. */
  revertedIds: string[];
  remaining: number;
}

export interface KeyChangesQuery {
  key_id: string;
  since: string;
  client?: string | undefined;
  /** Only these workflows, with their triggers, and these subscriptions. Both left out: all. */
  workflows?: readonly string[] | undefined;
  subscriptions?: readonly string[] | undefined;
  includeLater?: boolean;
  /** Whether to replace the URLs of the triggers once more. */
  rotateTriggers?: boolean;
}

/**
 * Reads the changes of a key since a moment, as far as the caller sees them.
 * @throws AppError api_key_not_found for a key that is not the caller's, unless an instance admin asks
 */
export async function readKeyChanges(ctx: ToolContext, query: KeyChangesQuery): Promise<FoundKeyChanges> {
  const { key_id, since: given, client } = query;
  const { owner, access } = ctx.actor.principal;
  const isAdmin = isInstanceAdmin(access);
  const key = await findApiKey(ctx.read.apiKeys, key_id, (found) => isAdmin || found.owner === owner);
  const subject: Subject = {
    key: { lineage: key.lineage, owner: key.owner, name: key.name },
    client: client ?? null,
  };
  const since = iso(Date.parse(given));
  const activity = await ctx.read.workflowChanges.ofKey(subject.key, since);
  const found: FoundKeyChanges = {
    key,
    subject,
    since,
    activity,
    changed: [],
    subscriptions: [],
    triggers: [],
    revertedIds: [],
    remaining: 0,
  };
  await addWorkflows(ctx, query, found);
  await addSubscriptions(ctx, query, found);
  const rotations = activity.rotations
    .filter((rotation) => client === undefined || rotation.client === client)
    .filter(({ workflowId }) => isSelected(query, "workflows", workflowId));
  const triggers = await readTriggers(ctx, rotations, query.rotateTriggers ?? false);
  found.triggers = triggers.slice(0, MAX_LISTED);
  found.remaining += triggers.length - found.triggers.length;
  return found;
}

type Selected = "workflows" | "subscriptions";

/** Where one of the two lists is given, nothing else is selected. */
const isSelected = (query: KeyChangesQuery, list: Selected, id: string): boolean =>
  query.workflows === undefined && query.subscriptions === undefined
    ? true
    : query[list]?.includes(id) === true;

/** The ids of what the key changed, in order. */
const changedIds = (
  query: KeyChangesQuery,
  list: Selected,
  changed: readonly { id: string; client: string }[],
): string[] => [
  ...new Set(
    changed
      .filter(({ client }) => query.client === undefined || query.client === client)
      .map(({ id }) => id)
      .filter((id) => isSelected(query, list, id)),
  ),
];

async function addWorkflows(ctx: ToolContext, query: KeyChangesQuery, found: FoundKeyChanges): Promise<void> {
  const { subject, since, activity } = found;
  const ids = changedIds(
    query,
    "workflows",
    activity.changed.map(({ workflowId: id, client }) => ({ id, client })),
  );
  const entries = await ctx.read.workflowChanges.ofWorkflows(new Set(ids), activity);
  const byWorkflow = Map.groupBy(
    entries.filter(({ at }) => at >= since),
    ({ workflowId }) => workflowId,
  );
  const { includeLater = false } = query;
  // The caller sees these workflows. Those that it may not publish are reported, too.
  const read = unscoped(ctx.read);
  for (const id of ids) {
    const workflow = (await read.workflows.find(id))!;
    const facts = await readFacts(read, workflow);
    const history = await readHistory(read.workflows, subject, byWorkflow.get(id) ?? [], facts);
    if (history.own.length === 0) found.revertedIds.push(id);
    else if (found.changed.length >= MAX_LISTED) found.remaining += 1;
    else {
      const plan =
        refusal(ctx, facts.project) ??
        (await planRevert(read.workflows, { id, facts }, subject, history, { includeLater }));
      found.changed.push({ workflow, history, plan });
    }
  }
}

async function addSubscriptions(
  ctx: ToolContext,
  query: KeyChangesQuery,
  found: FoundKeyChanges,
): Promise<void> {
  const { subject, since, activity } = found;
  const ids = changedIds(
    query,
    "subscriptions",
    activity.subscriptions.map(({ subscriptionId: id, client }) => ({ id, client })),
  );
  const entries = await ctx.read.workflowChanges.ofSubscriptions(new Set(ids), activity);
  const byId = Map.groupBy(
    entries.filter(({ at }) => at >= since),
    ({ subscriptionId }) => subscriptionId,
  );
  const { includeLater = false } = query;
  for (const id of ids) {
    const current = await unscoped(ctx.read).subscriptions.find(id);
    const history = readSubscriptionHistory(subject, byId.get(id) ?? []);
    const { project } = activity.subscriptions.find(({ subscriptionId }) => subscriptionId === id)!;
    if (history.own.length === 0 && (current === undefined || !history.knowsSecret))
      found.revertedIds.push(id);
    else if (found.subscriptions.length >= MAX_LISTED) found.remaining += 1;
    else {
      const plan =
        current === undefined || history.own.length === 0
          ? undefined
          : (refusalToAdminister(ctx, project) ??
            (await planSubscription(ctx, current, subject, history, { includeLater })));
      found.subscriptions.push({ id, project, current, history, plan });
    }
  }
}

/** Why the caller may not revert a subscription of a project. */
function refusalToAdminister({ actor }: ToolContext, project: string): Obstacle | undefined {
  if (scopesIn(actor.principal.access, project).has("admin")) return undefined;
  return {
    code: "missing_scope",
    message: "Only admins of its project can revert it. Ask one of them.",
  };
}

/** Why the caller may not revert a workflow of a project. */
function refusal({ actor }: ToolContext, project: string): Obstacle | undefined {
  const scopes = scopesIn(actor.principal.access, project);
  if (scopes.has("write") && scopes.has("publish")) return undefined;
  return {
    code: "missing_scope",
    message: "Only editors and admins of its project can revert it. Ask one of them.",
  };
}

const readFacts = async (
  read: ToolContext["read"],
  workflow: WorkflowWithDefinition,
): Promise<CurrentFacts> => ({
  version: workflow.version,
  archived: workflow.status === "archived",
  published: workflow.published_version,
  paused: (await read.schedules.find(workflow.id))?.paused,
  consent: await read.workflows.exposureConsent(workflow.id),
  project: projectOf(workflow),
  offers: await read.projects.offersOf(workflow.id),
});
