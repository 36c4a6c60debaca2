import { type Kysely, sql } from "kysely";
import { columnTypes } from "../dialect.ts";

/** Who published which version. Of earlier publications the audit log has the last one, if it was not purged. */
export async function up(db: Kysely<never>): Promise<void> {
  const { serial } = columnTypes(db);
  await db.schema
    .createTable("workflow_publications")
    .addColumn("id", serial, (c) => c.primaryKey())
    .addColumn("workflow_id", "text", (c) => c.notNull())
    .addColumn("version", "integer", (c) => c.notNull())
    .addColumn("at", "text", (c) => c.notNull())
    .addColumn("owner", "text", (c) => c.notNull())
    .addColumn("key_name", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex("workflow_publications_by_version")
    .on("workflow_publications")
    .columns(["workflow_id", "version"])
    .execute();
  await sql`
    insert into workflow_publications (workflow_id, version, at, owner, key_name, subject)
    select w.id, w.published_version, a.at, a.owner, coalesce(a.key_name, ''), a.owner
    from workflows w
    join audit_log a on a.id = (
      select max(id) from audit_log where operation = 'publish_workflow' and target = w.id
    )
    where w.published_version is not null`.execute(db);
}
