import { type Kysely, sql } from "kysely";

/**
 * An admin's consent to expose a workflow as a tool. What is exposed today stays exposed: the consent of the migration has
 * no digest and holds for the version that is published now.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable("exposure_consents")
    .addColumn("workflow_id", "text", (c) => c.primaryKey())
    .addColumn("digest", "text")
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("allowed_by", "text", (c) => c.notNull())
    .addColumn("allowed_at", "text", (c) => c.notNull())
    .execute();
  await sql`
    insert into exposure_consents (workflow_id, digest, version, allowed_by, allowed_at)
    select id, null, published_version, 'migration', updated_at from workflows
    where exposed = 1 and published_version is not null
  `.execute(db);
}
