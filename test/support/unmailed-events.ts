/** Events of approvals as builds before migration 56 wrote them, and what the migration makes of them. */
import { type Kysely, sql } from "kysely";
import type { Schema } from "../../src/store/schema.ts";

const EVENTS = [
  { seq: 1, kind: "escalated", note: "no_mail_server" },
  { seq: 2, kind: "reminded", note: null },
  // The note of a delegation is what the person wrote.
  { seq: 3, kind: "delegated", note: "no_mail_server" },
];

export const UNMAILED_AFTER = [
  { seq: 1, note: null, had_mail_server: 0 },
  { seq: 2, note: null, had_mail_server: 1 },
  { seq: 3, note: "no_mail_server", had_mail_server: 1 },
];

/** As it is before the migration, so the columns are those of then. */
export async function insertUnmailedEvents(trx: Kysely<Schema>): Promise<void> {
  for (const { seq, kind, note } of EVENTS)
    await sql`insert into approval_events (approval_id, seq, run_id, kind, at, assignees, note, notified)
      values ('apr_1', ${seq}, 'run_1', ${kind}, '2026-11-21T08:00:00.000Z', '[]', ${note}, 1)`.execute(trx);
}

export const unmailedEvents = (db: Kysely<Schema>) =>
  db.selectFrom("approval_events").select(["seq", "note", "had_mail_server"]).orderBy("seq").execute();
