import { z } from "zod";
import { ApiKeyIdRef } from "../../schemas/api-key.ts";
import { KeyChanges, KeyChangesClient, KeyChangesSince } from "../../schemas/key-changes.ts";
import { IdempotencyKey, WorkflowIdRef } from "../../schemas/workflow.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { applyRevert } from "./apply-revert.ts";
import { checkReverts } from "./check-reverts.ts";
import { isEmptyPlan } from "./plan-revert.ts";
import { type ChangedByKey, type FoundKeyChanges, readKeyChanges } from "./read-key-changes.ts";
import { type RevertResult, serializeKeyChanges, skipped } from "./serialize-key-changes.ts";

export const revertKeyChanges = defineTool({
  name: "revert_key_changes",
  title: "Revert what an API key changed",
  description:
    "Undoes what an API key changed since a moment, as new versions: each workflow in a transaction of its own. Published " +
    "versions, schedules and consents follow. A second revert changes nothing.",
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
        description: "Only these workflows. Default: all that the key changed.",
        example: ["weekly-revenue"],
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
  async run({ include_later, break_callers, dry_run, ...query }, ctx) {
    const found = await readKeyChanges(ctx, { ...query, includeLater: include_later });
    assertChanged(query.workflows ?? [], found);
    const checked = await checkReverts(ctx, found.changed, break_callers);
    const results: RevertResult[] = [];
    for (const [index, changed] of found.changed.entries()) {
      const result = checked[index]!;
      results.push(
        dry_run || result.outcome !== "revertible" ? result : await revertOne(ctx, found, changed, result),
      );
    }
    const response = serializeKeyChanges(found, results, ctx.now());
    if (dry_run) return response;
    ctx.engine.wake();
    // A repeated request gets the response of the first one, although nothing is left to revert.
    return ctx.write(() => Promise.resolve(response));
  },
});

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
        return skipped(current, {
          code: "changed_meanwhile",
          message:
            "It was changed while the revert was planned. Nothing was changed. Send the request again.",
        });
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

/** @throws AppError invalid_input for a workflow that the key did not change */
function assertChanged(requested: readonly string[], { changed, revertedIds, since }: FoundKeyChanges): void {
  const known = new Set([...changed.map(({ workflow }) => workflow.id), ...revertedIds]);
  const issues = requested.flatMap((id, index) =>
    known.has(id)
      ? []
      : [
          {
            path: `workflows[${index}]`,
            code: "not_found",
            message: `is not a workflow that the key changed since ${since}`,
            fix: "get_key_changes (GET /api-keys/{key_id}/changes) lists them.",
          },
        ],
  );
  if (issues.length > 0) throw invalidInput(issues);
}
