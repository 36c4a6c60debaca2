/** Counts the rows of a list up to a limit: counting a million rows takes longer than reading a page of them. */
import type { Kysely, SelectQueryBuilder } from "kysely";
import { MAX_TOTAL } from "../../schemas/page.ts";
import type { Schema } from "./schema.ts";

/** Where counting stops: one more than the largest total that lists show. */
export const MAX_COUNTED = MAX_TOTAL + 1;

/** Counts the rows of a query without columns, up to `limit`. */
export async function cappedCount<T extends keyof Schema>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, T, object>,
  limit = MAX_COUNTED,
): Promise<number> {
  const rows = query.select((eb) => eb.lit(1).as("one")).limit(limit);
  const { count } = await db
    .selectFrom(rows.as("counted"))
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}
