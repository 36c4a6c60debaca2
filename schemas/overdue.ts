/** Workflows that have not succeeded in time. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { timestamp } from "./text.ts";

export const OverdueWorkflow = z
  .strictObject({
    workflow_id: z.string().meta({ example: "nightly-sync" }),
    name: z.string().meta({ example: "Nightly sync" }),
    project: ProjectField,
    every: z.string().meta({ description: "Within which time it must succeed.", example: "24h" }),
    due_at: timestamp.meta({ description: "When that time was over." }),
    overdue_since: timestamp.meta({ description: "When the alert was raised." }),
    succeeded_at: timestamp.nullable().meta({ description: "The last success; null for none." }),
  })
  .meta({ id: "OverdueWorkflow", description: "A published workflow that has not succeeded in time." });
export type OverdueWorkflow = z.infer<typeof OverdueWorkflow>;

export const OverdueWorkflows = z
  .strictObject({ items: z.array(OverdueWorkflow) })
  .meta({ id: "OverdueWorkflows", description: "The workflows that have not succeeded in time." });
