import { z } from "zod";

const WorkflowNameOfId = z
  .strictObject({
    id: z.string().meta({ example: "weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
  })
  .meta({ id: "WorkflowNameOfId", description: "The id of a workflow with its name." });

export const WorkflowNames = z
  .strictObject({ items: z.array(WorkflowNameOfId) })
  .meta({ id: "WorkflowNames", description: "Names of workflows by their ids." });
