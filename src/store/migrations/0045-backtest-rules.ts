import type { Kysely } from "kysely";

/** The rule that publishing needs a backtest, and the backtests that publications and change requests passed. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("projects").addColumn("backtest", "text").execute();
  await db.schema.alterTable("workflow_publications").addColumn("backtest", "text").execute();
  await db.schema.alterTable("reviews").addColumn("backtest", "text").execute();
  await db.schema.alterTable("backtests").addColumn("digest", "text").execute();
  // No release had this column, and every backtest the same value.
  await db.schema.alterTable("backtests").dropColumn("concurrency").execute();
}
