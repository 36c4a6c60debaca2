import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { StateChange } from "../../schemas/workflow-state.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { defineTool } from "../../src/core/tool.ts";
import type { StateChangeRecord } from "../../src/core/workflow-state-ports.ts";

const PAGE_SIZE = 50;

export const listStateChanges = defineTool({
  name: "list_state_changes",
  title: "List the changes of a workflow's state",
  description:
    "Lists what has changed the state of a workflow, newest first: the run or person, the values before and after, and the reason. " +
    "The newest 200 changes are kept.",
  route: "GET /workflows/:workflow_id/state/history",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "invalid_cursor"],
  page: { item: StateChange, mcpLimit: PAGE_SIZE },
  input: z.strictObject({
    workflow_id: WorkflowIdRef,
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(StateChange),
  async run({ workflow_id, limit, cursor }, ctx) {
    const { id: workflowId } = await findWorkflow(ctx.read.workflows, workflow_id);
    const query = JSON.stringify(["list_state_changes", workflowId]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? PAGE_SIZE;
    const before = after === null ? null : Number(after[0]);
    const found = await ctx.read.workflowStates.history({ workflowId, before, limit: pageSize + 1 });
    const items = found.slice(0, pageSize);
    const next = found.length > pageSize ? ([String(items.at(-1)!.revision), workflowId] as const) : null;
    return {
      items: items.map(toChange),
      ...(await ctx.total(() => ctx.read.workflowStates.countHistory(workflowId))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});

const toChange = ({ keyName, changes, ...change }: StateChangeRecord): StateChange => ({
  ...change,
  key_name: keyName,
  changes: [...changes],
});
