/** Finds what a key changed, and plans a revert for each workflow. */
import type { ApiKeyWithOwner } from "../../src/core/account-ports.ts";
import { isInstanceAdmin, scopesIn } from "../../src/core/access.ts";
import { iso } from "../../src/core/clock.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { KeyActivity } from "../../src/core/workflow-change-ports.ts";
import { projectOf } from "../../schemas/project.ts";
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { findApiKey } from "../api-keys/find-api-key.ts";
import { type CurrentFacts, type KeyHistory, readHistory, type Subject } from "./history.ts";
import { type Obstacle, planRevert, type RevertPlan } from "./plan-revert.ts";

/** Maximum number of workflows in a response, and that one request reverts. */
const MAX_WORKFLOWS = 200;

/** A workflow that a key changed, with the plan of its revert or what stands in the way. */
export interface ChangedByKey {
  workflow: WorkflowWithDefinition;
  history: KeyHistory;
  plan: RevertPlan | Obstacle;
}

export interface FoundKeyChanges {
  key: ApiKeyWithOwner;
  subject: Subject;
  since: string;
  activity: KeyActivity;
  changed: ChangedByKey[];
  /** Ids of the workflows whose changes are reverted. */
  revertedIds: string[];
  remaining: number;
}

export interface KeyChangesQuery {
  key_id: string;
  since: string;
  client?: string | undefined;
  /** Only these workflows; left out, all. */
  workflows?: readonly string[] | undefined;
  includeLater?: boolean;
}

/**
 * Reads the changes of a key since a moment, as far as the caller sees them.
 * @throws AppError api_key_not_found for a key that is not the caller's, unless an instance admin asks
 */
export async function readKeyChanges(
  ctx: ToolContext,
  { key_id, since: given, client, workflows, includeLater = false }: KeyChangesQuery,
): Promise<FoundKeyChanges> {
  const { owner, access } = ctx.actor.principal;
  const isAdmin = isInstanceAdmin(access);
  const key = await findApiKey(ctx.read.apiKeys, key_id, (found) => isAdmin || found.owner === owner);
  const subject: Subject = {
    key: { lineage: key.lineage, owner: key.owner, name: key.name },
    client: client ?? null,
  };
  const since = iso(Date.parse(given));
  const activity = await ctx.read.workflowChanges.ofKey(subject.key, since);
  const byClient = activity.changed.filter((change) => client === undefined || change.client === client);
  const changedIds = [...new Set(byClient.map(({ workflowId }) => workflowId))];
  const ids = changedIds.filter((id) => workflows?.includes(id) !== false);
  const entries = await ctx.read.workflowChanges.ofWorkflows(new Set(ids), activity);
  const byWorkflow = Map.groupBy(
    entries.filter(({ at }) => at >= since),
    ({ workflowId }) => workflowId,
  );
  const found: FoundKeyChanges = {
    key,
    subject,
    since,
    activity,
    changed: [],
    revertedIds: [],
    remaining: 0,
  };
  // The caller sees these workflows. Those that it may not publish are reported, too.
  const read = unscoped(ctx.read);
  for (const id of ids) {
    const workflow = (await read.workflows.find(id))!;
    const facts = await readFacts(read, workflow);
    const history = await readHistory(read.workflows, subject, byWorkflow.get(id) ?? [], facts);
    if (history.own.length === 0) found.revertedIds.push(id);
    else if (found.changed.length >= MAX_WORKFLOWS) found.remaining += 1;
    else {
      const plan =
        refusal(ctx, facts.project) ??
        (await planRevert(read.workflows, { id, facts }, subject, history, { includeLater }));
      found.changed.push({ workflow, history, plan });
    }
  }
  return found;
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
});
