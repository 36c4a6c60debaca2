import { z } from "zod";
import { WorkflowNames } from "../../schemas/workflow-names.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { defineTool } from "../../src/core/tool.ts";

/** Maximum number of ids. */
const MAX_IDS = 100;

export const getWorkflowNames = defineTool({
  name: "get_workflow_names",
  title: "Get names of workflows",
  description:
    "Returns the names of workflows by their ids, sorted by name. Ids that don't exist are left out.",
  route: "GET /workflow-names",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: [],
  input: z.strictObject({
    ids: z
      .array(WorkflowIdRef)
      .min(1)
      .max(MAX_IDS)
      .meta({ description: `1 to ${MAX_IDS} ids.`, example: ["weekly-revenue"] }),
  }),
  output: WorkflowNames,
  async run({ ids }, ctx) {
    const found = await ctx.read.workflows.briefs(ids);
    return { items: found.map(({ id, name }) => ({ id, name })) };
  },
});
