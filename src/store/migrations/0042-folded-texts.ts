import { type Kysely, sql } from "kysely";
import { foldText } from "../../../schemas/fold-text.ts";
import { auditSearchText, workflowSearchText } from "../search-text.ts";

/** Rows that are read at a time. */
const BATCH = 500;

/** The columns of this migration and before. */
interface Tables {
  workflows: {
    id: string;
    name: string;
    name_key: string;
    description: string;
    tags: string;
    search_text: string;
  };
  audit_log: {
    id: number;
    operation: string;
    target: string | null;
    owner: string;
    key_name: string | null;
    client: string;
    search_text: string | null;
  };
}

/**
 * Folds the texts that are searched and sorted by. Texts of ASCII are folded already. An older release adds entries to the audit log
 * without a folded text, which are found as before.
 */
export async function up(untyped: Kysely<never>): Promise<void> {
  await untyped.schema.alterTable("audit_log").addColumn("search_text", "text").execute();
  const db = untyped as unknown as Kysely<Tables>;
  await foldWorkflows(db);
  await foldEntries(db);
}

async function foldWorkflows(db: Kysely<Tables>): Promise<void> {
  for (let after = ""; ;) {
    const rows = await db
      .selectFrom("workflows")
      .select(["id", "name", "description", "tags"])
      .where("id", ">", after)
      .where(sql<boolean>`(tags <> '[]' or octet_length(search_text) <> length(search_text))`)
      .orderBy("id")
      .limit(BATCH)
      .execute();
    for (const { id, name, description, tags } of rows) {
      const content = { name, description, tags: JSON.parse(tags) as string[] };
      await db
        .updateTable("workflows")
        .set({ name_key: foldText(name), search_text: workflowSearchText(id, content) })
        .where("id", "=", id)
        .execute();
    }
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}

async function foldEntries(db: Kysely<Tables>): Promise<void> {
  const text = sql`coalesce(target, '') || owner || coalesce(key_name, '') || client`;
  for (let after = 0; ;) {
    const rows = await db
      .selectFrom("audit_log")
      .select(["id", "operation", "target", "owner", "key_name", "client"])
      .where("id", ">", after)
      .where(sql<boolean>`octet_length(${text}) <> length(${text})`)
      .orderBy("id")
      .limit(BATCH)
      .execute();
    for (const { id, key_name: keyName, ...entry } of rows)
      await db
        .updateTable("audit_log")
        .set({ search_text: auditSearchText({ ...entry, keyName }) })
        .where("id", "=", id)
        .execute();
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}
