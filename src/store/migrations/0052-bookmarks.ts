import type { Kysely } from "kysely";

/** What a person marks for themselves: favourite workflows, and saved filters of lists. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable("favorites")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("favorites_pk", ["owner", "workflow_id"])
    .execute();
  await schema
    .createTable("saved_views")
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("page", "text", (c) => c.notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("query", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("saved_views_pk", ["owner", "page", "name"])
    .execute();
}
