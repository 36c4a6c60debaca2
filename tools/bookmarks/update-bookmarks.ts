import { z } from "zod";
import {
  Bookmarks,
  MAX_FAVORITES,
  MAX_SAVED_VIEWS,
  SavedView,
  ViewName,
  ViewPage,
} from "../../schemas/bookmarks.ts";
import { WorkflowIdRef } from "../../schemas/workflow.ts";
import { iso } from "../../src/core/clock.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import { invalidInput } from "../../src/core/issues.ts";
import { defineTool } from "../../src/core/tool.ts";
import { serializeBookmarks } from "./serialize-bookmarks.ts";

/** Maximum number of items of each field. */
const MAX_ITEMS = 20;

const listOf = <T extends z.ZodType>(item: T) => z.array(item).max(MAX_ITEMS).default([]);

export const updateBookmarks = defineTool({
  name: "update_bookmarks",
  title: "Update your bookmarks",
  description:
    "Adds and removes favourite workflows and saved filters of lists. What is there already is left as it is, and a view of the same page and name is replaced.",
  route: "PATCH /bookmarks",
  surfaces: ["rest"],
  scope: "read",
  requiresUser: true,
  effect: "update",
  errors: ["workflow_not_found"],
  input: z.strictObject({
    add_favorites: listOf(WorkflowIdRef).meta({
      description: "Ids of workflows.",
      example: ["weekly-revenue"],
    }),
    remove_favorites: listOf(WorkflowIdRef).meta({ description: "Ids of workflows.", example: [] }),
    save_views: listOf(SavedView).meta({
      description: "Filters to save.",
      example: [{ page: "runs", name: "Failed this week", query: "status=failed" }],
    }),
    remove_views: listOf(z.strictObject({ page: ViewPage, name: ViewName })).meta({
      description: "Saved filters to remove.",
      example: [],
    }),
  }),
  output: Bookmarks,
  async run(input, ctx) {
    const { owner } = ctx.actor.principal;
    const at = iso(ctx.now());
    for (const id of input.add_favorites) await findWorkflow(ctx.read.workflows, id);
    return ctx.write(async (tx) => {
      const { bookmarks } = tx;
      const [addsFavorites, addsViews] = [input.add_favorites.length > 0, input.save_views.length > 0];
      if (addsFavorites || addsViews) await bookmarks.lock(owner);
      for (const id of input.remove_favorites) await bookmarks.removeFavorite(owner, id);
      for (const view of input.remove_views) await bookmarks.removeView(owner, view);
      for (const id of input.add_favorites) await bookmarks.addFavorite(owner, id, at);
      for (const view of input.save_views) await bookmarks.saveView(owner, view, at);
      if (addsFavorites && (await bookmarks.favorites(owner)).length > MAX_FAVORITES)
        throw tooMany("add_favorites", MAX_FAVORITES, "favourites");
      if (addsViews && (await bookmarks.views(owner)).length > MAX_SAVED_VIEWS)
        throw tooMany("save_views", MAX_SAVED_VIEWS, "saved views");
      await tx.recordAudit(owner);
      return serializeBookmarks(tx, owner);
    });
  },
});

const tooMany = (path: string, max: number, what: string) =>
  invalidInput([
    {
      path,
      code: "too_large",
      message: `would give you more than ${max} ${what}`,
      fix: "Remove some in the same request, or before it.",
    },
  ]);
