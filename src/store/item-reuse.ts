/** What a run did with the items of its fan-outs. Queries read a bounded number of items, so that none holds up the event loop. */
import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { GIVEN } from "../core/model.ts";
import type { ItemReuse } from "../core/run-ports.ts";
import { NO_ITEM } from "./item-column.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";
import { encodeState } from "./step-state-columns.ts";

/** Maximum number of rows that a query reads: 5 ms on SQLite. */
export const ROWS_PER_QUERY = 10_000;

/** A place in the order of the rows of a run. */
interface Place {
  step_id: string;
  item: number;
}

const SKIPPED = encodeState("skipped");

const isAfter = (step: string, item: number): RawBuilder<SqlBool> =>
  sql<SqlBool>`(step_id, item) > (${step}, ${item})`;

/** The last of the next rows after a place. */
const endOfNext = prepared((db, runId: string, step: string, item: number) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom("run_steps")
        .select(["step_id", "item"])
        .where("run_id", "=", runId)
        .where(isAfter(step, item))
        .orderBy("step_id")
        .orderBy("item")
        .limit(sql.lit(ROWS_PER_QUERY))
        .as("next"),
    )
    .select(["step_id", "item"])
    .orderBy("step_id", "desc")
    .orderBy("item", "desc")
    .limit(sql.lit(1)),
);

const countUpTo = prepared((db, runId: string, from: string, fromItem: number, to: string, toItem: number) =>
  db
    .selectFrom("run_steps")
    .select((eb) => [
      "step_id" as const,
      eb.fn.count<number>("reused_from").filterWhere("reused_from", "!=", GIVEN).as("reused"),
      eb.fn
        .countAll<number>()
        .filterWhere("reused_from", "is", null)
        .filterWhere("state", "!=", SKIPPED)
        .filterWhere("attempts", ">", 0)
        .as("executed"),
    ])
    .where("run_id", "=", runId)
    .where(isAfter(from, fromItem))
    .where(sql<SqlBool>`(step_id, item) <= (${to}, ${toItem})`)
    .where("item", "!=", NO_ITEM)
    .groupBy("step_id"),
);

/** Counts the items of each fan-out of a run, and the iterations of each loop. */
export async function itemReuse(db: Kysely<Schema>, runId: string): Promise<Map<string, ItemReuse>> {
  const counts = new Map<string, ItemReuse>();
  let from: Place = { step_id: "", item: NO_ITEM };
  for (;;) {
    const [to] = await endOfNext(db, runId, from.step_id, from.item);
    if (to === undefined) return counts;
    const rows = await countUpTo(db, runId, from.step_id, from.item, to.step_id, to.item);
    for (const { step_id: id, reused, executed } of rows) {
      const before = counts.get(id) ?? { reused: 0, executed: 0 };
      counts.set(id, { reused: before.reused + reused, executed: before.executed + executed });
    }
    from = to;
  }
}

const lastItem = prepared((db, runId: string, stepId: string) =>
  db
    .selectFrom("run_steps")
    .select("item")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .orderBy("item", "desc")
    .limit(sql.lit(1)),
);

const executedBetween = prepared(
  (db, runId: string, stepId: string, from: number, to: number, limit: number) =>
    db
      .selectFrom("run_steps")
      .select("item")
      .where("run_id", "=", runId)
      .where("step_id", "=", stepId)
      .where("item", ">=", from)
      .where("item", "<", to)
      .where("reused_from", "is", null)
      .where("state", "!=", SKIPPED)
      .where("attempts", ">", 0)
      .orderBy("item")
      .limit(limit),
);

const FAILED = [encodeState("failed"), encodeState("failed_continued")];

const failedBetween = prepared((db, runId: string, stepId: string, from: number, to: number, limit: number) =>
  db
    .selectFrom("run_steps")
    .select("item")
    .where("run_id", "=", runId)
    .where("step_id", "=", stepId)
    .where("item", ">=", from)
    .where("item", "<", to)
    .where("state", "in", FAILED)
    .orderBy("item")
    .limit(limit),
);

/** The numbers of the first items or iterations that were executed in a run, at most `limit` of them. */
export const executedItems = (db: Kysely<Schema>, runId: string, stepId: string, limit: number) =>
  scanItems(executedBetween, { db, runId, stepId, from: 0, limit });

/** The numbers of the first items or iterations from one on that have failed, at most `limit` of them. */
export const failedItems = (db: Kysely<Schema>, runId: string, stepId: string, from: number, limit: number) =>
  scanItems(failedBetween, { db, runId, stepId, from, limit });

interface ScannedItems {
  db: Kysely<Schema>;
  runId: string;
  stepId: string;
  from: number;
  limit: number;
}

/** Reads the items of a step in parts until enough are found. */
async function scanItems(
  between: typeof executedBetween,
  { db, runId, stepId, from: first, limit }: ScannedItems,
): Promise<number[]> {
  const [last] = await lastItem(db, runId, stepId);
  const found: number[] = [];
  for (let from = first; from <= (last?.item ?? NO_ITEM) && found.length < limit; from += ROWS_PER_QUERY) {
    const rows = await between(db, runId, stepId, from, from + ROWS_PER_QUERY, limit - found.length);
    found.push(...rows.map(({ item }) => item));
  }
  return found;
}
