import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { DEFAULT_PROJECT, Project } from "../../schemas/project.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeProject } from "./serialize-project.ts";

/** What projects are sorted by: the default one comes first. */
const sortKey = (id: string): string => (id === DEFAULT_PROJECT ? "" : id);

export const listProjects = defineTool({
  name: "list_projects",
  title: "List projects",
  description:
    "Lists the projects that you have a role in, with what you can do in each; the default one comes first.",
  route: "GET /projects",
  mcpList: "admin",
  scope: "read",
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: Project, mcpLimit: 50 },
  input: z.strictObject({ limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(Project),
  async run({ limit, cursor }, ctx) {
    const query = JSON.stringify(["list_projects"]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const all = await ctx.read.projects.list();
    const rest = after === null ? all : all.filter(({ id }) => sortKey(id) > after[0]);
    const items = rest.slice(0, limit ?? listProjects.page!.mcpLimit);
    const last = items.at(-1);
    return {
      items: items.map((project) => serializeProject(ctx, project)),
      total: all.length,
      next_cursor:
        last === undefined || items.length === rest.length
          ? null
          : ctx.cursors.encode(query, [sortKey(last.id), last.id]),
    };
  },
});
