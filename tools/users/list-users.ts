import { z } from "zod";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { SearchText } from "../../schemas/text.ts";
import { UserRole, User, UserStatus } from "../../schemas/user.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeUser } from "./serialize-user.ts";

export const listUsers = defineTool({
  name: "list_users",
  title: "List users",
  description: "Lists users with role and status, sorted by e-mail address.",
  route: "GET /users",
  surfaces: ["rest"],
  scope: "admin",
  requiresUser: true,
  instance: true,
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: User, mcpLimit: 50 },
  input: z.strictObject({
    search: SearchText.optional().meta({
      description:
        "Part of the e-mail address, ignoring case and the form of accents. Domains are found in Unicode and in ASCII.",
      example: "ann",
    }),
    role: UserRole.optional(),
    status: UserStatus.optional(),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(User),
  async run({ search, role, status, limit, cursor }, ctx) {
    const filter = { search: search?.trim(), role, status };
    const query = JSON.stringify(["list_users", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listUsers.page!.mcpLimit;
    const { items, next } = await ctx.read.users.page({ filter, after, limit: pageSize });
    return {
      items: items.map(serializeUser),
      ...(await ctx.total(() => ctx.read.users.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});
