import { z } from "zod";
import { ApiKeyIdRef } from "../../schemas/api-key.ts";
import {
  type ChangedSubscription,
  KeyChanges,
  KeyChangesClient,
  KeyChangesSince,
  type RotatedTrigger,
} from "../../schemas/key-changes.ts";
import { SubscriptionIdRef } from "../../schemas/subscription.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { detailsOfRevert } from "../../src/core/workflow-change-details.ts";
import { findSubscription } from "../subscriptions/find-subscription.ts";
import { removeSubscription, saveSubscription } from "../subscriptions/save-subscription.ts";
import { applyRevert } from "./apply-revert.ts";
import { checkReverts } from "./check-reverts.ts";
import { isEmptyPlan } from "./plan-revert.ts";
import {
  type ChangedByKey,
  type FoundKeyChanges,
  type KeyChangesQuery,
  readKeyChanges,
  type Skip,
  type SubscriptionByKey,
} from "./read-key-changes.ts";
import {
  plannedResults,
  plannedSubscription,
  type RevertResult,
  type RevertResults,
  serializeKeyChanges,
  skipped,
} from "./serialize-key-changes.ts";
import { revertTrigger } from "./trigger-reverts.ts";

export const revertKeyChanges = defineTool({
  name: "revert_key_changes",
  title: "Revert what an API key changed",
  description:
    "Undoes what an API key changed since a moment: workflows as new versions, with what is published, schedules, consents " +
    "and offers, and subscriptions; each in a transaction of its own. The answer lists what stays in force. A second revert " +
    "changes nothing.",
  route: "POST /api-keys/:key_id/changes/revert",
  surfaces: ["rest"],
  scope: "publish",
  requiresUser: true,
  effect: "act",
  openWorld: true,
  errors: ["api_key_not_found", "idempotency_key_reused"],
  headers: { idempotency_key: "Idempotency-Key" },
  example: { since: "2026-11-21T08:00:00Z", dry_run: true },
  input: z.strictObject({
    key_id: ApiKeyIdRef,
    since: KeyChangesSince,
    client: KeyChangesClient.optional(),
    workflows: z
      .array(WorkflowIdRef)
      .min(1)
      .max(1_000)
      .optional()
      .meta({
        description:
          "Only these workflows, with their triggers. Default: all that the key changed, unless subscriptions are named.",
        example: ["weekly-revenue"],
      }),
    subscriptions: z
      .array(SubscriptionIdRef)
      .min(1)
      .max(1_000)
      .optional()
      .meta({
        description:
          "Only these subscriptions. Default: all that the key changed, unless workflows are named.",
        example: ["sub_Zr4mXw5pXq0a"],
      }),
    rotate_triggers: z.boolean().default(false).meta({
      description:
        "Whether to replace the URLs of triggers again that the key replaced, and has seen. Their senders need the new ones.",
    }),
    include_later: z.boolean().default(false).meta({
      description:
        "Whether to take the changes out also where others changed a workflow afterwards, if both touched different parts.",
    }),
    break_callers: z
      .array(z.string())
      .max(1_000)
      .default([])
      .meta({ description: "Ids of callers that it may break, as for publish_workflow." }),
    dry_run: z.boolean().default(false).meta({ description: "Whether to check only, and change nothing." }),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: KeyChanges,
  async run({ include_later, break_callers, dry_run, rotate_triggers, ...query }, ctx) {
    const found = await readKeyChanges(ctx, {
      ...query,
      includeLater: include_later,
      rotateTriggers: rotate_triggers,
    });
    assertChanged(query, found);
    const checked = await checkReverts(ctx, found.changed, break_callers);
    const results = dry_run ? plannedResults(found, checked) : await revertAll(ctx, found, checked);
    const response = serializeKeyChanges(found, results, ctx.now());
    if (dry_run) return response;
    ctx.engine.wake();
    // A repeated request gets the response of the first one, although nothing is left to revert.
    return ctx.write(() => Promise.resolve(response));
  },
});

/** Reverts all that is planned, each in a transaction of its own. */
async function revertAll(
  ctx: ToolContext,
  found: FoundKeyChanges,
  checked: readonly RevertResult[],
): Promise<RevertResults> {
  // First the URLs: a workflow that is published again must not get one back that the key knows.
  const triggers: RotatedTrigger[] = [];
  for (const trigger of found.triggers) triggers.push(await revertTrigger(ctx, trigger));
  const workflows: RevertResult[] = [];
  for (const [index, changed] of found.changed.entries()) {
    const result = checked[index]!;
    workflows.push(result.outcome === "revertible" ? await revertOne(ctx, found, changed, result) : result);
  }
  const subscriptions: ChangedSubscription[] = [];
  for (const subscription of found.subscriptions)
    subscriptions.push(await revertSubscription(ctx, found, subscription));
  return { workflows, subscriptions, triggers };
}

/** Reverts one subscription, unless it has changed since the plan was made. */
async function revertSubscription(
  ctx: ToolContext,
  { activity }: FoundKeyChanges,
  subscription: SubscriptionByKey,
): Promise<ChangedSubscription> {
  const { id, plan } = subscription;
  const planned = plannedSubscription(subscription);
  if (planned.outcome !== "revertible" || plan === undefined || "code" in plan) return planned;
  const skip = ({ code, message }: Skip): ChangedSubscription =>
    plannedSubscription({ ...subscription, plan: { code, message } });
  try {
    return await ctx.write(async (tx) => {
      const current = await findSubscription(tx, id);
      if (await tx.workflowChanges.hasChangedAfter(id, activity.to)) return skip(CHANGED_MEANWHILE);
      if (plan.isCreation) await removeSubscription(tx, current);
      else await saveSubscription(ctx, tx, current, plan.given);
      await tx.recordAudit(id, undefined, {
        project: current.project,
        details: detailsOfRevert(plan.record),
      });
      return { ...planned, outcome: "reverted" as const };
    }, id);
  } catch (error) {
    // The others are reverted all the same.
    if (error instanceof AppError && error.status < 500) return skip(error);
    throw error;
  }
}

const CHANGED_MEANWHILE = {
  code: "changed_meanwhile",
  message: "It was changed while the revert was planned. Nothing was changed. Send the request again.",
} as const;

/** Reverts one workflow, unless it has changed since the plan was made. */
async function revertOne(
  ctx: ToolContext,
  found: FoundKeyChanges,
  { workflow, plan, history }: ChangedByKey,
  checked: RevertResult,
): Promise<RevertResult> {
  if ("code" in plan || isEmptyPlan(plan)) return checked;
  try {
    return await ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow.id);
      if (await tx.workflowChanges.hasChangedAfter(workflow.id, found.activity.to))
        return skipped(current, CHANGED_MEANWHILE);
      const reverted = await applyRevert(ctx, tx, current, plan, reasonFor(found, history.own));
      return { ...checked, workflow: reverted, outcome: "reverted" };
    }, workflow.id);
  } catch (error) {
    // The others are reverted all the same.
    if (error instanceof AppError && error.status < 500) return skipped(workflow, error);
    throw error;
  }
}

/** Such as `reverts versions 4–6 of key "ci"`. */
function reasonFor({ key }: FoundKeyChanges, own: ChangedByKey["history"]["own"]): string {
  const versions = own.flatMap(({ change }) => change.after.version ?? []);
  const [first, last] = [versions[0], versions.at(-1)];
  const what =
    first === undefined ? "changes" : first === last ? `version ${first}` : `versions ${first}–${last}`;
  return `reverts ${what} of key "${key.name}"`;
}

/** @throws AppError invalid_input for a workflow or a subscription that the key did not change */
function assertChanged(
  { workflows = [], subscriptions = [] }: Pick<KeyChangesQuery, "workflows" | "subscriptions">,
  found: FoundKeyChanges,
): void {
  const known = new Set([
    ...found.changed.map(({ workflow }) => workflow.id),
    ...found.subscriptions.map(({ id }) => id),
    ...found.triggers.map(({ result }) => result.workflow_id),
    ...found.revertedIds,
  ]);
  const issuesOf = (list: "workflows" | "subscriptions", noun: string, ids: readonly string[]) =>
    ids.flatMap((id, index) =>
      known.has(id)
        ? []
        : [
            {
              path: `${list}[${index}]`,
              code: "not_found",
              message: `is not a ${noun} that the key changed since ${found.since}`,
              fix: "get_key_changes (GET /api-keys/{key_id}/changes) lists them.",
            },
          ],
    );
  const issues = [
    ...issuesOf("workflows", "workflow", workflows),
    ...issuesOf("subscriptions", "subscription", subscriptions),
  ];
  if (issues.length > 0) throw invalidInput(issues);
}
