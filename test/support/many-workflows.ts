import { sql } from "kysely";
import type { TestInstance } from "./instance.ts";

/** Inserts `count` workflows in one transaction, each with a description of `length` characters and no history. */
export async function insertWorkflows(
  { store }: Pick<TestInstance, "store">,
  { count, length = 20, name, at }: { count: number; length?: number; name?: string; at?: string },
): Promise<void> {
  await store.transaction(async (trx) => {
    await sql`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count}),
      made as (
        select n, printf('many-%06d', n) as id,
          coalesce(${name ?? null}, printf('Many %06d', n)) as name,
          substr(hex(randomblob(${Math.ceil(length / 2)})), 1, ${length}) as description,
          coalesce(${at ?? null}, strftime('%Y-%m-%dT%H:%M:%fZ', 1780000000 + n, 'unixepoch')) as at
        from numbers
      )
      insert into workflows
        (id, name, name_key, description, tags, search_text, status, version, published_version,
         created_at, updated_at, created_by)
      select id, name, lower(name), description, '[]', lower(id || char(10) || name || char(10) || description),
        'draft', 1, null, at, at, 'operator'
      from made`.execute(trx);
    await sql`update counters set value = value + ${count} where name = 'workflows'`.execute(trx);
  });
}
