import { z } from "zod";
import { OfferedWorkflow } from "../../schemas/offer.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectIdRef } from "../../schemas/project.ts";
import { unscoped } from "../../src/core/scoped-readers.ts";
import { defineTool, type ToolContext } from "../../src/core/tool.ts";
import { projectFor } from "../projects/project-for.ts";

export const listOfferedWorkflows = defineTool({
  name: "list_offered_workflows",
  title: "List offered workflows",
  description:
    "Lists the workflows of other projects that those of a project may call with a workflow step, with their inputs and outputs.",
  route: "GET /offered-workflows",
  surfaces: ["rest"],
  scope: "read",
  effect: "read",
  errors: ["project_not_found", "invalid_cursor"],
  page: { item: OfferedWorkflow, mcpLimit: 50 },
  input: z.strictObject({
    project: ProjectIdRef.optional(),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(OfferedWorkflow),
  async run({ project: requested, limit, cursor }, ctx) {
    const project = await projectFor(ctx, "read", requested);
    const query = JSON.stringify(["list_offered_workflows", project]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const all = await ctx.read.projects.offeredTo(project);
    const rest = after === null ? all : all.filter((id) => id > after[1]);
    const ids = rest.slice(0, limit ?? listOfferedWorkflows.page!.mcpLimit);
    const last = ids.at(-1);
    return {
      items: await contractsOf(ctx, ids),
      total: all.length,
      next_cursor:
        last === undefined || ids.length === rest.length ? null : ctx.cursors.encode(query, [last, last]),
    };
  },
});

/** The contracts of workflows that are offered to a project of the caller, who need not see the workflows themselves. */
async function contractsOf({ read }: ToolContext, ids: readonly string[]): Promise<OfferedWorkflow[]> {
  const { workflows } = unscoped(read);
  const contracts: OfferedWorkflow[] = [];
  for (const id of ids) {
    const version = (await workflows.find(id))?.published_version ?? null;
    const found = version === null ? undefined : await workflows.findVersion(id, version);
    // It was unpublished meanwhile.
    if (found === undefined) continue;
    contracts.push({
      id,
      name: found.name,
      description: found.description,
      version: found.version,
      inputs: schemaOf(found.definition?.["inputs"]),
      output_schema: schemaOf(found.definition?.["output_schema"]),
    });
  }
  return contracts;
}

const schemaOf = (schema: unknown): Record<string, unknown> | null =>
  typeof schema === "object" && schema !== null ? (schema as Record<string, unknown>) : null;
