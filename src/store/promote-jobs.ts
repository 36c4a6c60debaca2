/** Makes due jobs ready. Thousands may become due at the same time, so a claim promotes only some of them. */
import { type Kysely, sql } from "kysely";
import { STOP_PRIORITY } from "../core/model.ts";
import { skipLockedClause, skippingLocked } from "./dialect.ts";
import { prepared, statement } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** Maximum number of jobs that one claim makes ready because they are the oldest, and because owners take turns. */
const PROMOTION_LIMIT = 500;
/** Maximum number of jobs of one owner, when more are due than one claim makes ready. */
const LIMIT_PER_OWNER = 20;

const promoteOldest = prepared((db, now: string) =>
  db
    .updateTable("jobs")
    .set({ state: "ready" })
    .where("id", "in", (eb) =>
      skippingLocked(
        db,
        eb
          .selectFrom("jobs")
          .select("id")
          .where("state", "=", sql.lit("later"))
          .where("due_at", "<=", now)
          .orderBy("due_at")
          .limit(PROMOTION_LIMIT),
      ),
    )
    .returning("id"),
);

/** Jobs that stop work, so that they do not wait for the work that they stop. */
const promoteStopping = prepared((db, now: string) =>
  db
    .updateTable("jobs")
    .set({ state: "ready" })
    .where("id", "in", (eb) =>
      skippingLocked(
        db,
        eb
          .selectFrom("jobs")
          .select("id")
          .where("priority", "=", sql.lit(STOP_PRIORITY))
          .where("state", "=", sql.lit("later"))
          .where("due_at", "<=", now)
          .orderBy("due_at")
          .limit(PROMOTION_LIMIT),
      ),
    ),
);

/** The jobs of many owners, in case the oldest ones are all of the same. */
const promoteOfEachOwner = prepared((db, now: string) =>
  statement<never>(
    db,
    sql`with recursive owners (subject) as (
      select min(subject) from jobs where state = 'later'
      union all
      select (select min(subject) from jobs where state = 'later' and subject > owners.subject)
      from owners where owners.subject is not null
    )
    update jobs set state = 'ready' where id in (
      select due.id from owners join jobs as due on due.id in (
        select id from jobs where state = 'later' and subject = owners.subject and due_at <= ${now}
        order by due_at limit ${sql.lit(LIMIT_PER_OWNER)} ${skipLockedClause(db)}
      )
      limit ${sql.lit(PROMOTION_LIMIT)}
    )`,
  ),
);

/** @param now jobs that are due at this time (ISO 8601) become ready */
export async function promoteDueJobs(trx: Kysely<Schema>, now: string): Promise<void> {
  const promoted = await promoteOldest(trx, now);
  if (promoted.length < PROMOTION_LIMIT) return;
  await promoteStopping(trx, now);
  await promoteOfEachOwner(trx, now);
}
