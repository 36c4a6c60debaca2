import { type Kysely, sql } from "kysely";

/** Whether an approval's event could be mailed, and the digest of a delivery's body, which outlives the body. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .alterTable("approval_events")
    .addColumn("had_mail_server", "integer", (c) => c.notNull().defaultTo(1))
    .execute();
  // Earlier builds wrote this into the note, which is free text only in a delegation.
  await sql`update approval_events set had_mail_server = 0, note = null
    where kind <> 'delegated' and note = 'no_mail_server'`.execute(db);
  await db.schema.alterTable("trigger_deliveries").addColumn("body_digest", "text").execute();
}
