/** Workflows that projects offer to others. */
import { z } from "zod";
import { EVERY_PROJECT } from "./project.ts";
import { text } from "./text.ts";
import { Version } from "./workflow.ts";

export const OfferProjects = z
  .array(text(200, 1))
  .max(100)
  .refine((projects) => new Set(projects).size === projects.length, {
    message: "must not contain the same project twice",
    params: { code: "duplicate" },
  })
  .refine((projects) => projects.length <= 1 || !projects.includes(EVERY_PROJECT), {
    message: `must contain nothing else beside "${EVERY_PROJECT}"`,
    params: { code: "conflict" },
  })
  .meta({
    description: `Ids of the projects whose workflows may call it; "${EVERY_PROJECT}" for every project, and none to take the offer back.`,
    example: ["sales"],
    uniqueItems: true,
  });

export const WorkflowOffer = z
  .strictObject({
    workflow_id: z.string().meta({ example: "finance.weekly-revenue" }),
    projects: z.array(z.string()).meta({ description: "What it is offered to.", example: ["sales"] }),
    unseen: z
      .array(z.string())
      .optional()
      .meta({
        description: "Those of them that you can't see: check how they are written.",
        example: ["salse"],
      }),
  })
  .meta({ id: "WorkflowOffer", description: "The projects that a workflow is offered to." });

/** A workflow of another project as those who may call it see it. */
export const OfferedWorkflow = z
  .strictObject({
    id: z.string().meta({ example: "finance.weekly-revenue" }),
    name: z.string().meta({ example: "Weekly revenue" }),
    description: z.string().meta({ example: "Revenue by region for the last seven days." }),
    version: Version,
    inputs: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The JSON Schema of its inputs; null if it takes none." }),
    output_schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The JSON Schema of its output; null if it declares none." }),
  })
  .meta({
    id: "OfferedWorkflow",
    description: "A published workflow of another project that may be called.",
  });
export type OfferedWorkflow = z.infer<typeof OfferedWorkflow>;
