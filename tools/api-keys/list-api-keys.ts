import { z } from "zod";
import { ApiKey } from "../../schemas/api-key.ts";
import { Cursor, Limit, pageOf } from "../../schemas/page.ts";
import { isInstanceAdmin } from "../../src/core/access.ts";
import { AppError } from "../../src/core/errors.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeApiKey } from "./serialize-api-key.ts";

export const listApiKeys = defineTool({
  name: "list_api_keys",
  title: "List API keys",
  description:
    "Lists your API keys, newest first, including expired and revoked ones, without their values. Admins can list everyone's.",
  route: "GET /api-keys",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "read",
  errors: ["invalid_cursor"],
  page: { item: ApiKey, mcpLimit: 50 },
  input: z.strictObject({
    everyone: z.boolean().default(false).meta({
      description: "Whether to list everyone's keys and those of the command line; admins only.",
      example: true,
    }),
    application: z.boolean().optional().meta({
      description: "Only the access of connected applications, or only keys. Default: both.",
      example: false,
    }),
    limit: Limit.optional(),
    cursor: Cursor.optional(),
  }),
  output: pageOf(ApiKey),
  async run({ everyone, application, limit, cursor }, ctx) {
    const { owner, access } = ctx.actor.principal;
    if (everyone && !isInstanceAdmin(access)) {
      throw new AppError(
        "missing_scope",
        "Only admins can list everyone's keys. Leave `everyone` out to list your own.",
      );
    }
    const filter = { ...(!everyone && { owner }), ...(application !== undefined && { application }) };
    const query = JSON.stringify(["list_api_keys", filter]);
    const after = cursor === undefined ? null : ctx.cursors.decode(query, cursor);
    const pageSize = limit ?? listApiKeys.page!.mcpLimit;
    const { items, next } = await ctx.read.apiKeys.page({ filter, after, limit: pageSize });
    const now = ctx.now();
    return {
      items: items.map((key) => serializeApiKey(key, now)),
      ...(await ctx.total(() => ctx.read.apiKeys.count(filter))),
      next_cursor: next && ctx.cursors.encode(query, next),
    };
  },
});
