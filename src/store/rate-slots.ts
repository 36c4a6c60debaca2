/**
 * Rates that all executors keep together. A row holds the time of the next free slot of a rate: a claim that uses the rate
 * moves it by the rate's interval, so the starts are spread evenly and never come closer.
 */
import { type Kysely, sql, type Transaction } from "kysely";
import { DAY, MINUTE } from "../core/clock.ts";
import type { Rate, RateSlot } from "../core/model.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/**
 * Maximum difference between the clocks of two hosts, in milliseconds. A slot further ahead than that and its interval
 * was taken by a clock that has been set back since, so it does not count.
 */
const MAX_CLOCK_SKEW_MS = MINUTE;
/** How long a slot is stored after its time, in milliseconds. */
const RETENTION_MS = DAY;

/** The condition that a row of `rate_slots` is a slot in the future. @param now milliseconds since 1970 */
export const isTaken = (now: number) =>
  sql<boolean>`(rate_slots.next_at > ${now} and rate_slots.next_at <= ${now} + rate_slots.interval_ms + ${MAX_CLOCK_SKEW_MS})`;

/** The condition that a row of `rate_slots` limits a row of `jobs`. */
const limitsJob = sql<boolean>`rate_slots.key in (jobs.rate_key, jobs.resource)`;

/** The condition that a row of `jobs` has to wait for a slot. @param now milliseconds since 1970 */
export const waitsForSlot = (now: number) =>
  sql<boolean>`exists (select 1 from rate_slots where ${limitsJob} and ${isTaken(now)})`;

/** A subquery for the earliest slot that a ready job waits for, in milliseconds since 1970; null when none does. */
export const earliestSlot = (now: number) =>
  // Two conditions rather than `limitsJob`, because each has an index.
  sql<number | null>`(select next_at from rate_slots where ${isTaken(now)}
    and (exists (select 1 from jobs where state = 'ready' and rate_key = rate_slots.key)
      or exists (select 1 from jobs where state = 'ready' and resource = rate_slots.key))
    order by next_at limit 1)`;

/** The earliest slot that each step of a run waits for, by step id (both times in milliseconds since 1970). */
export async function slotsOfRun(
  db: Kysely<Schema>,
  runId: string,
  now: number,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("jobs")
    .innerJoin("rate_slots", (join) => join.on(limitsJob))
    // A job that two rates limit waits for the later one, and a step for the first of its jobs.
    .select((eb) => ["step_id" as const, eb.fn.max<number>("next_at").as("next_at")])
    .where("run_id", "=", runId)
    .where("state", "=", sql.lit("ready"))
    .where(isTaken(now))
    .groupBy(["step_id", "jobs.id"])
    .execute();
  const earliest = new Map<string, number>();
  for (const { step_id: id, next_at: at } of rows) earliest.set(id, Math.min(at, earliest.get(id) ?? at));
  return earliest;
}

const takeSlot = prepared((db, key: string, intervalMs: number, nextAt: number, now: number) =>
  db
    .insertInto("rate_slots")
    .values({ key, next_at: nextAt, interval_ms: intervalMs })
    .onConflict((conflict) =>
      conflict
        .column("key")
        .doUpdateSet({ next_at: nextAt, interval_ms: intervalMs })
        .where((eb) => eb.not(isTaken(now))),
    )
    .returning("key"),
);

/**
 * Takes the slots of several rates at a time (milliseconds since 1970), so that the next ones are free an interval later.
 * @returns undefined when one of them has no free slot; none is taken then
 */
export async function takeSlots(
  trx: Kysely<Schema>,
  rates: readonly Rate[],
  now: number,
): Promise<RateSlot[] | undefined> {
  const slots: RateSlot[] = [];
  for (const { key, intervalMs } of rates) {
    const nextAt = now + intervalMs;
    if ((await takeSlot(trx, key, intervalMs, nextAt, now)).length === 0) {
      await returnSlots(trx, slots, now);
      return undefined;
    }
    slots.push({ key, nextAt });
  }
  return slots;
}

/** Frees slots that were taken for nothing, unless a later one of the rate is taken. @param now milliseconds since 1970 */
export async function returnSlots(
  trx: Kysely<Schema>,
  slots: readonly RateSlot[],
  now: number,
): Promise<void> {
  for (const { key, nextAt } of slots) {
    await trx
      .updateTable("rate_slots")
      .set({ next_at: now })
      .where("key", "=", key)
      .where("next_at", "=", nextAt)
      .execute();
  }
}

/** Drops the slots of resources whose rate is another one now. @param rates intervals by resource, in milliseconds */
export async function dropChangedRates(
  trx: Kysely<Schema>,
  rates: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = await trx.selectFrom("rate_slots").select(["key", "interval_ms"]).execute();
  const changed = rows.filter(({ key, interval_ms: ms }) => rates.has(key) && rates.get(key) !== ms);
  for (const { key } of changed) await trx.deleteFrom("rate_slots").where("key", "=", key).execute();
}

/** Deletes slots that are long past. @returns whether there may be more */
export async function purgeRateSlots(trx: Transaction<Schema>, now: number, limit: number): Promise<boolean> {
  const old = await trx
    .selectFrom("rate_slots")
    .select("key")
    .where("next_at", "<", now - RETENTION_MS)
    .limit(limit)
    .execute();
  for (const { key } of old) await trx.deleteFrom("rate_slots").where("key", "=", key).execute();
  return old.length === limit;
}
