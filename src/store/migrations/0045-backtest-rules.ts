import { type Kysely, sql } from "kysely";

/** The rule that publishing needs a backtest, the backtests that publications and change requests passed, and which version was live last. */
export async function up(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable("workflows").addColumn("last_published", "integer").execute();
  await sql`
    update workflows set last_published = coalesce(published_version, (
      select version from workflow_publications p where p.workflow_id = workflows.id order by p.id desc limit 1
    ))`.execute(db);
  await db.schema.alterTable("projects").addColumn("backtest", "text").execute();
  await db.schema.alterTable("workflow_publications").addColumn("backtest", "text").execute();
  await db.schema.alterTable("reviews").addColumn("backtest", "text").execute();
  await db.schema.alterTable("backtests").addColumn("digest", "text").execute();
  // No release had this column, and every backtest the same value.
  await db.schema.alterTable("backtests").dropColumn("concurrency").execute();
}
