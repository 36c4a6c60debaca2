import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { ProjectIdRef, ProjectMember } from "../../schemas/project.ts";
import { defineTool } from "../../src/core/tool.ts";
import { findWithMembers } from "./find-project.ts";
import { serializeMember } from "./serialize-project.ts";

export const listProjectMembers = defineTool({
  name: "list_project_members",
  title: "List the members of a project",
  description:
    "Lists the people with a role in a project, sorted by e-mail address; admins of the instance have every right without one.",
  route: "GET /projects/:project/members",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  effect: "read",
  errors: ["project_not_found", "invalid_cursor"],
  page: { item: ProjectMember, mcpLimit: 50 },
  input: z.strictObject({ project: ProjectIdRef, limit: Limit.optional(), cursor: Cursor.optional() }),
  output: pageOf(ProjectMember),
  async run({ project: id, limit, cursor }, ctx) {
    const project = await findWithMembers(ctx, ctx.read.projects, id);
    const query = JSON.stringify(["list_project_members", project.id]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const all = await ctx.read.projects.members(project.id);
    const rest = after === null ? all : all.filter(({ email }) => email > after[0]);
    const items = rest.slice(0, limit ?? listProjectMembers.page!.mcpLimit);
    const last = items.at(-1);
    return {
      items: items.map(serializeMember),
      total: all.length,
      next_cursor:
        last === undefined || items.length === rest.length
          ? null
          : ctx.cursors.encode(query, [last.email, last.email]),
    };
  },
});
