/**
 * JSON values of runs. A small value is stored in its column. A large one is stored in a row of its own, and its column
 * holds `@<id>:<characters>`, so that a query for many steps does not read large values.
 */
import { type Kysely, sql } from "kysely";
import type { ValueText } from "../core/model.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** Maximum length of a value that is stored in its column, in characters of JSON. */
const INLINE_CHARS = 8_192;

const insertValue = prepared((db, runId: string, body: string) =>
  db.insertInto("run_values").values({ run_id: runId, body }).returning("id"),
);
const findValue = prepared((db, id: number) =>
  db.selectFrom("run_values").select("body").where("id", "=", id),
);

/** The text of the column for a value. Stores a large value in a row of its own. */
export async function encodeValue(db: Kysely<Schema>, runId: string, value: unknown): Promise<string> {
  const json = JSON.stringify(value ?? null);
  if (json.length <= INLINE_CHARS) return json;
  const [row] = await insertValue(db, runId, json);
  return `@${row!.id}:${json.length}`;
}

function parseReference(column: string): { id: number; chars: number } | undefined {
  const match = /^@(\d+):(\d+)$/.exec(column);
  return match === null ? undefined : { id: Number(match[1]), chars: Number(match[2]) };
}

/** Reads the value of a column. */
export async function decodeValue(db: Kysely<Schema>, column: string): Promise<unknown> {
  const ref = parseReference(column);
  if (ref === undefined) return JSON.parse(column);
  const [row] = await findValue(db, ref.id);
  return JSON.parse(row!.body);
}

/** Part of a value's JSON text, and the length of the full text. */
export async function valueText(
  db: Kysely<Schema>,
  column: string,
  range: { from: number; chars: number },
): Promise<ValueText> {
  const ref = parseReference(column);
  if (ref === undefined) {
    return { text: column.slice(range.from, range.from + range.chars), chars: column.length };
  }
  const part = await db
    .selectFrom("run_values")
    .select(sql<string>`substr(body, ${range.from + 1}, ${range.chars})`.as("part"))
    .where("id", "=", ref.id)
    .executeTakeFirst();
  return { text: part?.part ?? "", chars: ref.chars };
}
