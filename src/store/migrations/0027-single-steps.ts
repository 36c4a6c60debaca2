import { type Kysely, sql } from "kysely";

/** Runs of single steps belong to no workflow, and so do the approvals that they ask. It changes no row. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table runs alter column workflow_id drop not null`.execute(db);
  await sql`alter table approvals alter column workflow_id drop not null`.execute(db);
}
