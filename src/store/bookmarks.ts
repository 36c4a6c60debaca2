/** What people mark for themselves: favourite workflows, and saved filters of lists. */
import type { Kysely } from "kysely";
import type { BookmarkReader, BookmarkWriter } from "../core/bookmark-ports.ts";
import { lockName } from "./dialect.ts";
import type { Schema } from "./schema.ts";

export const bookmarkReader = (db: Kysely<Schema>): BookmarkReader => ({
  async favorites(owner) {
    const rows = await db
      .selectFrom("favorites")
      .select("workflow_id")
      .where("owner", "=", owner)
      .orderBy("created_at")
      .orderBy("workflow_id")
      .execute();
    return rows.map(({ workflow_id: id }) => id);
  },

  views: (owner) =>
    db
      .selectFrom("saved_views")
      .select(["page", "name", "query"])
      .where("owner", "=", owner)
      .orderBy("page")
      .orderBy("name")
      .execute(),
});

export const bookmarkWriter = (trx: Kysely<Schema>): BookmarkWriter => ({
  ...bookmarkReader(trx),

  lock: (owner) => lockName(trx, "bookmarks", owner),

  async addFavorite(owner, workflowId, at) {
    await trx
      .insertInto("favorites")
      .values({ owner, workflow_id: workflowId, created_at: at })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  },

  async removeFavorite(owner, workflowId) {
    await trx
      .deleteFrom("favorites")
      .where("owner", "=", owner)
      .where("workflow_id", "=", workflowId)
      .execute();
  },

  async saveView(owner, { page, name, query }, at) {
    await trx
      .insertInto("saved_views")
      .values({ owner, page, name, query, created_at: at })
      .onConflict((conflict) => conflict.columns(["owner", "page", "name"]).doUpdateSet({ query }))
      .execute();
  },

  async removeView(owner, { page, name }) {
    await trx
      .deleteFrom("saved_views")
      .where("owner", "=", owner)
      .where("page", "=", page)
      .where("name", "=", name)
      .execute();
  },
});
