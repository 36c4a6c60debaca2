import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { Grant, ProjectIdRef } from "../../schemas/project.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findProject } from "./find-project.ts";
import { grantTarget, serializeGrant } from "./serialize-grant.ts";

export const listGrants = defineTool({
  name: "list_grants",
  title: "List the grants of a project",
  description:
    "Lists what a project is granted, sorted by kind and name. A project whose connections is all may use everything, " +
    "whatever it is granted.",
  route: "GET /projects/:project/grants",
  mcpList: "admin",
  scope: "read",
  effect: "read",
  errors: ["project_not_found", "invalid_cursor"],
  page: { item: Grant, mcpLimit: 50 },
  input: z.strictObject({ project: ProjectIdRef, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(Grant),
  async run({ project: id, limit, cursor }, ctx) {
    const project = await findProject(ctx.read.projects, id);
    const query = JSON.stringify(["list_grants", project.id]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const all = await ctx.read.projects.grants(project.id);
    const from = after === null ? 0 : all.findIndex((grant) => grantTarget(grant) === after[0]) + 1;
    const items = all.slice(from, from + (limit ?? listGrants.page!.mcpLimit));
    const last = items.at(-1);
    return {
      items: items.map(serializeGrant),
      total: all.length,
      next_cursor:
        last === undefined || from + items.length === all.length
          ? null
          : ctx.cursors.encode(query, [grantTarget(last), grantTarget(last)]),
    };
  },
});
