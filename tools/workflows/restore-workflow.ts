import { z } from "zod";
import { IdempotencyKey, IfMatch, Reason, Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { workflowEtag } from "./etag.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { saveSchedule } from "./save-schedule.ts";

export const restoreWorkflow = defineTool({
  name: "restore_workflow",
  title: "Restore a workflow",
  description: "Restores an archived workflow: published if it has a published version, else as a draft.",
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
  output: Workflow,
  etag: workflowEtag,
  run: ({ workflow_id, if_match, reason }, ctx) =>
    ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      if (current.status !== "archived") return current;
      await ctx.engine.assertMayStore(tx, ctx.actor.principal);
      const status = current.published_version === null ? "draft" : "published";
      const restored = await tx.workflows.addVersion(
        current,
        { ...current, status },
        { kind: "restored", reason, actor: ctx.actor },
      );
      await saveSchedule(ctx, tx, restored);
      return restored;
    }),
});
