import { z } from "zod";
import { BreakCallers, IfMatch, Reason, Workflow, WorkflowIdRef } from "../../schemas/workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { removeStarts } from "./save-starts.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { assertCallersFit } from "./broken-callers.ts";
import { archival } from "./callee-changes.ts";
import { whileCallersFit } from "./go-live.ts";
import { workflowEtag } from "./etag.ts";
import { assertMayChangeDraft, assertMayPublish } from "./live-changes.ts";
import { assertVersionMatches } from "./assert-version.ts";

export const archiveWorkflow = defineTool({
  name: "archive_workflow",
  title: "Archive a workflow",
  description:
    "Archives a workflow: it is left out of lists and can't run, but keeps its id and history. A person can restore it.",
  route: "DELETE /workflows/:workflow_id",
  scope: "write",
  effect: "delete",
  selectable: true,
  errors: ["workflow_not_found", "callers_would_break", "version_conflict"],
  headers: { if_match: "If-Match" },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    reason: Reason.nullable().default(null),
    break_callers: BreakCallers,
    if_match: IfMatch.optional(),
  }),
  output: Workflow,
  etag: workflowEtag,
  async run({ workflow_id, if_match, reason, break_callers: allowed }, ctx) {
    const workflow = await findWorkflow(ctx.read.workflows, workflow_id);
    assertVersionMatches(workflow, if_match);
    const { id, status } = workflow;
    const check = async (): Promise<void> => {
      // Who may not archive it at all should not be asked first to accept broken callers.
      await assertMayArchive(ctx, ctx.read, workflow);
      await assertCallersFit(ctx, archival(id), allowed);
    };
    return whileCallersFit(ctx, status === "archived" ? undefined : check, async (tx, assertUnchanged) => {
      const current = await findWorkflow(tx.workflows, workflow_id);
      assertVersionMatches(current, if_match);
      if (current.status === "archived") return current;
      await assertMayArchive(ctx, tx, current);
      await assertUnchanged();
      await removeStarts(tx, current.id);
      return tx.workflows.addVersion(
        current,
        { ...current, status: "archived" },
        { kind: "archived", reason, actor: ctx.actor },
      );
    });
  },
});

/** @throws AppError missing_scope */
async function assertMayArchive(
  ctx: ToolContext,
  ports: Pick<Readers, "workflows">,
  workflow: Workflow,
): Promise<void> {
  if (workflow.published_version === null) return assertMayChangeDraft(ctx, ports, workflow);
  assertMayPublish(ctx, workflow, {
    change: `"${workflow.id}" is published, so archiving it`,
    instead: "Ask a person to archive it.",
  });
}
