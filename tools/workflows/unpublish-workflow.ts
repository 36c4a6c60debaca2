import { z } from "zod";
import { BreakCallers, IdempotencyKey, IfMatch, Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { removeStarts } from "./save-starts.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { unpublication } from "./callee-changes.ts";
import { whileCallersFit } from "./go-live.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";
import { assertWithinKeyLimits } from "./live-changes.ts";

export const unpublishWorkflow = defineTool({
  name: "unpublish_workflow",
  title: "Unpublish a workflow",
  description:
    "Unpublishes a workflow: it is a draft again, and its schedule stops. Unfinished runs continue.",
  route: "POST /workflows/:workflow_id/unpublish",
  surfaces: ["rest"],
  scope: "publish",
  effect: "update",
  errors: [
    "workflow_not_found",
    "workflow_archived",
    "callers_would_break",
    "version_conflict",
    "idempotency_key_reused",
  ],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    break_callers: BreakCallers,
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Workflow,
  etag: workflowEtag,
  async run({ workflow_id, if_match, break_callers: allowed }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    assertVersionMatches(workflow, if_match);
    const isLive = workflow.published_version !== null && workflow.status !== "archived";
    const check = async () =>
      assertCallersFit(ctx, await unpublication(ctx, workflow, workflow.definition), allowed);
    return whileCallersFit(ctx, isLive ? check : undefined, async (tx, assertUnchanged) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      assertNotArchived(current);
      if (current.published_version === null) return current;
      if (current.version !== current.published_version)
        await assertWithinKeyLimits(ctx, tx, current, "its newest version is not the published one");
      await assertUnchanged();
      await removeStarts(tx, current.id);
      return tx.workflows.publish(current, { version: null, status: "draft" });
    });
  },
});
