/** The workflows that a caller can see, in short, so that an agent needs no call to learn that there are none or few. */
import { z } from "zod";
import { mayUseTool } from "../../src/core/access.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** Maximum number of workflows that are named. */
const MAX_NAMED = 10;

export const VisibleWorkflows = z
  .strictObject({
    total: z.int().meta({
      description: "Number of workflows that you can see, without archived ones; counting stops at 10,000.",
      example: 1,
    }),
    total_capped: z.literal(true).optional().meta({ description: "There are more than `total`." }),
    items: z
      .array(
        z.strictObject({
          id: z.string().meta({ example: "weekly-revenue" }),
          name: z.string().meta({ example: "Weekly revenue" }),
        }),
      )
      .optional()
      .meta({
        description: `All of them; left out for more than ${MAX_NAMED}, which list_workflows searches.`,
      }),
  })
  .meta({ id: "VisibleWorkflows", description: "The workflows that you can see, in short." });

/**
 * Counts the workflows that a caller can see, and names them if they are few.
 * @param project undefined for all projects of the caller
 * @returns undefined for a key that may not list workflows
 */
export async function visibleWorkflows(
  ctx: ToolContext,
  project: string | undefined,
): Promise<z.output<typeof VisibleWorkflows> | undefined> {
  if (!mayUseTool(ctx.actor.principal.access, "list_workflows")) return undefined;
  const { workflows } = ctx.read;
  const filter = { project };
  const { items, next } = await workflows.page({
    filter,
    sort: "name",
    after: null,
    limit: MAX_NAMED,
    withDefinition: false,
  });
  if (next !== null) return ctx.total(async () => workflows.count(filter));
  return { total: items.length, items: items.map(({ id, name }) => ({ id, name })) };
}
