/**
 * JSON values of runs. A small one stands in its column; a large one in a row of its own, and the column holds
 * `@<id>:<characters>`: so a list of steps never reads what nobody asked for.
 */
import { type Kysely, sql } from "kysely";
import type { ValueText } from "../core/model.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** As many characters of JSON stand in their column. */
const INLINE_CHARS = 8_192;

const insertValue = prepared((db, runId: string, body: string) =>
  db.insertInto("run_values").values({ run_id: runId, body }).returning("id"),
);
const findValue = prepared((db, id: number) =>
  db.selectFrom("run_values").select("body").where("id", "=", id),
);

/** What to write into the column for a value; a large one is stored beside. */
export async function encodeValue(db: Kysely<Schema>, runId: string, value: unknown): Promise<string> {
  const json = JSON.stringify(value ?? null);
  if (json.length <= INLINE_CHARS) return json;
  const [row] = await insertValue(db, runId, json);
  return `@${row!.id}:${json.length}`;
}

function reference(column: string): { id: number; chars: number } | undefined {
  const match = /^@(\d+):(\d+)$/.exec(column);
  return match === null ? undefined : { id: Number(match[1]), chars: Number(match[2]) };
}

/** The value of a column. */
export async function decodeValue(db: Kysely<Schema>, column: string): Promise<unknown> {
  const ref = reference(column);
  if (ref === undefined) return JSON.parse(column);
  const [row] = await findValue(db, ref.id);
  return JSON.parse(row!.body);
}

/** A part of a value's JSON text, and how long the whole is. */
export async function valueText(
  db: Kysely<Schema>,
  column: string,
  range: { from: number; chars: number },
): Promise<ValueText> {
  const ref = reference(column);
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
