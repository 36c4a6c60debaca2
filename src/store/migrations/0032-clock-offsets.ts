import type { Kysely } from "kysely";

/** By how much the clock of each executor is ahead of the one that all processes can read. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("executors").addColumn("clock_offset", "bigint").execute();
}
