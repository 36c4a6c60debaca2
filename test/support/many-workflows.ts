import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { iso, SECOND } from "../../src/core/clock.ts";
import type { TestInstance } from "./instance.ts";

/** Rows of a statement, whose number of values both databases limit. */
const BATCH = 500;
/** When the first one was created, in milliseconds. */
const FIRST_AT = 1_780_000_001_000;

/** Inserts `count` workflows in one transaction, each with a description of `length` characters and no history. */
export async function insertWorkflows(
  { store }: Pick<TestInstance, "store">,
  { count, length = 20, name, at }: { count: number; length?: number; name?: string; at?: string },
): Promise<void> {
  const rowOf = (index: number) => {
    const number = String(index + 1).padStart(6, "0");
    const id = `many-${number}`;
    const own = name ?? `Many ${number}`;
    const description = randomBytes(Math.ceil(length / 2))
      .toString("hex")
      .toUpperCase()
      .slice(0, length);
    const created = at ?? iso(FIRST_AT + index * SECOND);
    return {
      id,
      name: own,
      name_key: own.toLowerCase(),
      description,
      tags: "[]",
      search_text: `${id}\n${own}\n${description}`.toLowerCase(),
      status: "draft" as const,
      version: 1,
      published_version: null,
      created_at: created,
      updated_at: created,
      created_by: "operator",
    };
  };
  await store.transaction(async (trx) => {
    for (let from = 0; from < count; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => rowOf(from + index));
      await trx.insertInto("workflows").values(rows).execute();
    }
    await sql`update counters set value = value + ${count} where name = 'workflows'`.execute(trx);
  });
}
