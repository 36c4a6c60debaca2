import { z } from "zod";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { WorkflowStateContent } from "../../schemas/workflow-state.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findDeclaredState, stateEtag, toStateContent } from "./workflow-state-response.ts";

export const getWorkflowState = defineTool({
  name: "get_workflow_state",
  title: "Get a workflow's state",
  description:
    "Returns the values that the next run of a workflow reads as `state`, and who wrote them last. Runs that have " +
    "started keep the values that they started with.",
  route: "GET /workflows/:workflow_id/state",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  readsValues: true,
  errors: ["workflow_not_found", "state_not_found"],
  input: z.strictObject({ workflow_id: WorkflowIdRef }),
  output: WorkflowStateContent,
  etag: stateEtag,
  async run({ workflow_id }, ctx) {
    const declared = await findDeclaredState(ctx.read, workflow_id);
    return toStateContent(declared, await ctx.read.workflowStates.find(declared.workflowId));
  },
});
