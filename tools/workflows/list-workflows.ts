import { z } from "zod";
import { shortSchemas } from "../../schemas/short-schemas.ts";
import { MAX_WORDS, SearchWords, text } from "../../schemas/text.ts";
import { Cursor, Limit, MAX_FOUND, MAX_TOTAL, pageOf } from "../../schemas/page.ts";
import { ProjectFilter } from "../../schemas/project.ts";
import { Workflow, WorkflowStatus } from "../../schemas/workflow.ts";
import { omit } from "../../src/core/omit.ts";
import { defineTool } from "../../src/core/tool.ts";
import { truncate } from "../../src/core/truncate.ts";
import { assertProjectFilter } from "../projects/find-project.ts";
import { lastRunOf } from "./last-run.ts";

/** Maximum number of ids that `ids` takes. */
const MAX_IDS = 100;

const Sort = z.enum(["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"]).meta({
  description:
    "A minus means descending. By updated_at or name, one that changes while you page may be listed twice or missed.",
  example: "-updated_at",
});
shortSchemas.add(Sort, { type: "string", enum: Sort.options, description: "A minus means descending." });

const Ids = z
  .array(text(200, 1))
  .min(1)
  .max(MAX_IDS)
  .meta({ description: `Only these, archived ones too; at most ${MAX_IDS}.`, example: ["weekly-revenue"] });
shortSchemas.add(Ids, { type: "array", items: { type: "string" }, description: "Archived too." });

/** Maximum length of a description in the short form of a workflow, in characters: enough to choose by. */
const BRIEF_DESCRIPTION = 100;
/** Fields of a workflow by which no agent chooses one. */
const FEW_NEED = ["tags", "version", "published_version", "created_at", "updated_at", "created_by"];

export const listWorkflows = defineTool({
  name: "list_workflows",
  title: "List workflows",
  description:
    "Lists workflows with description and status. Search here before you create one. " +
    "Archived ones and definitions are left out unless requested; get_workflow returns one in full.",
  route: "GET /workflows",
  scope: "read",
  effect: "read",
  selectable: true,
  brief: ({ description, ...workflow }) => ({
    ...omit(workflow, FEW_NEED),
    description: truncate(description as string, BRIEF_DESCRIPTION),
  }),
  errors: ["project_not_found", "invalid_cursor"],
  page: {
    item: Workflow,
    mcpLimit: 50,
    alwaysPaged: ({ include }) => include.includes("definition"),
  },
  // A run changes without a change of its workflow.
  revision: async (ctx, { include }) =>
    include.includes("last_run") ? undefined : String(await ctx.read.workflows.revision()),
  input: z.strictObject({
    search: SearchWords.optional().meta({
      description: `Words that the id, name, description or tags contain, ignoring case; at most ${MAX_WORDS}.`,
      example: "revenue",
    }),
    tag: text(50, 1).optional().meta({ description: "Only with this tag.", example: "finance" }),
    ids: Ids.optional(),
    status: WorkflowStatus.optional(),
    project: ProjectFilter,
    sort: Sort.default("-created_at"),
    include: z
      .array(z.enum(["definition", "last_run"]))
      .max(2)
      .default([])
      .meta({ description: "What to add to each workflow.", example: ["last_run"] }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(Workflow),
  async run({ limit, cursor, sort, include, ...filter }, ctx) {
    await assertProjectFilter(ctx, filter.project);
    const { search, tag, ids, status, project } = filter;
    const query = JSON.stringify(["list_workflows", search, tag, status, sort, project, ids]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const { items, next } = await ctx.read.workflows.page({
      filter,
      sort,
      after,
      limit: limit ?? listWorkflows.page!.mcpLimit,
      withDefinition: include.includes("definition"),
    });
    const runs = include.includes("last_run")
      ? await ctx.read.runs.latestByWorkflow(items.map(({ id }) => id))
      : undefined;
    return {
      items: runs ? items.map((item) => ({ ...item, last_run: lastRunOf(runs.get(item.id)) })) : items,
      ...(await ctx.total(
        async () => (after === null && next === null ? items.length : ctx.read.workflows.count(filter)),
        search === undefined && tag === undefined ? MAX_TOTAL : MAX_FOUND,
      )),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});
