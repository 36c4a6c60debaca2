import { z } from "zod";
import { IdempotencyKey, IfMatch, Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { workflowEtag } from "./etag.ts";
import { assertNotArchived } from "./assert-not-archived.ts";
import { assertVersionMatches } from "./assert-version.ts";

export const unpublishWorkflow = defineTool({
  name: "unpublish_workflow",
  title: "Unpublish a workflow",
  description:
    "Unpublishes a workflow: it is a draft again, and its schedule stops. Unfinished runs continue.",
  route: "POST /workflows/:workflow_id/unpublish",
  surfaces: ["rest"],
  scope: "write",
  effect: "update",
  errors: ["workflow_not_found", "workflow_archived", "version_conflict", "idempotency_key_reused"],
  headers: { if_match: "If-Match", idempotency_key: "Idempotency-Key" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    if_match: IfMatch.optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Workflow,
  etag: workflowEtag,
  run: ({ workflow_id, if_match }, ctx) =>
    ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      assertNotArchived(current);
      if (current.published_version === null) return current;
      await tx.schedules.remove(current.id);
      return tx.workflows.publish(current, { version: null, status: "draft" });
    }),
});
