import { z } from "zod";
import { projectOf } from "../../schemas/project.ts";
import {
  IdempotencyKey,
  IfMatch,
  Reason,
  ReturnedWorkflow,
  type Workflow,
  WorkflowIdRef,
} from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { needsReviewAgain } from "../reviews/review-rule.ts";
import { withUnpublished } from "../reviews/with-unpublished.ts";
import { workflowEtag } from "./etag.ts";
import { assertMayChangeDraft, assertMayPublish, keyMayStart } from "./live-changes.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { saveStarts } from "./save-starts.ts";

export const restoreWorkflow = defineTool({
  name: "restore_workflow",
  title: "Restore a workflow",
  description:
    "Restores an archived workflow: published if it has a published version, else as a draft. Where the project requires " +
    "review, a version that nobody else has reviewed returns as a draft; unpublished in the answer says what to do.",
  route: "POST /workflows/:workflow_id/restore",
  surfaces: ["rest"],
  scope: "write",
  effect: "update",
  errors: ["workflow_not_found", "version_conflict", "storage_limit_reached", "idempotency_key_reused"],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    reason: Reason.nullable().default(null),
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: ReturnedWorkflow,
  etag: workflowEtag,
  async run({ workflow_id, if_match, reason }, ctx) {
    const find = async () => versionOf(await findWorkflow(ctx.read.workflows, workflow_id));
    const assertMayStart = await keyMayStart(ctx, find, "restore it");
    return ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      if (current.status !== "archived") return current;
      await assertMayStart(versionOf(current));
      if (current.published_version === null) await assertMayChangeDraft(ctx, tx, current);
      else
        assertMayPublish(ctx, current, {
          change: `"${current.id}" has a published version, so restoring it`,
          instead: "Ask a person to restore it.",
        });
      await ctx.engine.assertMayStore(tx, ctx.actor.principal, projectOf(current));
      // Where a review is needed, no key or author makes it run by itself again: they ask with publish_workflow.
      const isDraft =
        current.published_version === null ||
        (await needsReviewAgain(tx, ctx.actor.principal, current, current.published_version));
      const restored = await tx.workflows.addVersion(
        current,
        { ...current, status: isDraft ? "draft" : "published" },
        { kind: "restored", reason, actor: ctx.actor },
      );
      if (isDraft && current.published_version !== null)
        return withUnpublished(
          await tx.workflows.publish(restored, { version: null, status: "draft" }),
          current.published_version,
        );
      await saveStarts(ctx, tx, restored);
      return restored;
    });
  },
});

/** The version that runs once it is restored. */
const versionOf = ({ id, published_version: published, version }: Workflow) => ({
  workflowId: id,
  version: published ?? version,
});
