import { z } from "zod";
import { Bookmarks } from "../../schemas/bookmarks.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeBookmarks } from "./serialize-bookmarks.ts";

export const getBookmarks = defineTool({
  name: "get_bookmarks",
  title: "Get your bookmarks",
  description: "Returns your favourite workflows, and the filters of lists that you have saved.",
  route: "GET /bookmarks",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "read",
  errors: [],
  input: z.strictObject({}),
  output: Bookmarks,
  run: (_input, ctx) => serializeBookmarks(ctx.read, ctx.actor.principal.owner),
});
