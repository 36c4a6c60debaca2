import { z } from "zod";
import { IfMatch, Reason, Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { workflowEtag } from "./etag.ts";
import { assertVersionMatches } from "./assert-version.ts";

export const archiveWorkflow = defineTool({
  name: "archive_workflow",
  title: "Archive a workflow",
  description:
    "Archives a workflow: it is left out of lists and can't run, but keeps its id and history. A person can restore it.",
  route: "DELETE /workflows/:workflow_id",
  scope: "write",
  effect: "delete",
  errors: ["workflow_not_found", "version_conflict"],
  headers: { if_match: "If-Match" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    reason: Reason.nullable().default(null),
    if_match: IfMatch.optional(),
  }),
  output: Workflow,
  etag: workflowEtag,
  run: ({ workflow_id, if_match, reason }, ctx) =>
    ctx.write(async (tx) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      if (current.status === "archived") return current;
      await tx.schedules.remove(current.id);
      return tx.workflows.addVersion(
        current,
        { ...current, status: "archived" },
        { kind: "archived", reason, actor: ctx.actor },
      );
    }),
});
