import { type Kysely, sql } from "kysely";

/** For the audit log of one thing, and of one key: a log with a million entries is not scanned for them. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index audit_log_by_target on audit_log (target, id)`.execute(db);
  await sql`create index audit_log_by_lineage on audit_log (lineage, id)`.execute(db);
}
