/**
 * Values that can be large: inputs, outputs, definitions. A small one is stored in its column. A large one is stored in a
 * row of its own, once for all columns that have it, and its column holds `@<id>:<characters>`, so that a query for many
 * steps does not read large values. Each run, each version of a workflow and each recorded answer refers to the
 * rows that it uses; a row is deleted with the last reference to it (`releaseValues`).
 */
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { ValueText } from "../core/model.ts";
import { againstDeletion, forUpdate, writesConcurrently } from "./dialect.ts";
import { prepared } from "./prepared.ts";
import type { Schema } from "./schema.ts";

/** Maximum length of a value that is stored in its column, in characters of JSON. */
const INLINE_CHARS = 1_024;
/** The same for definitions, which are read as often as the rows that they belong to. */
const INLINE_DEFINITION_CHARS = 8_192;

const findByDigest = prepared((db, digest: Buffer) =>
  againstDeletion(db, db.selectFrom("run_values").select("id").where("digest", "=", digest)),
);
const insertValue = prepared((db, digest: Buffer, body: string) =>
  db
    .insertInto("run_values")
    // Rows of releases that stored a value for each run have its id.
    .values({ run_id: "", digest, body })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id"),
);
const insertReference = prepared((db, holder: string, value: number) =>
  db
    .insertInto("value_refs")
    .values({ holder, value_id: value })
    .onConflict((conflict) => conflict.doNothing()),
);
const findValue = prepared((db, id: number) =>
  db.selectFrom("run_values").select("body").where("id", "=", id),
);

/**
 * Stores a text unless it is stored already, with a reference to it. Its row is locked before the reference is added, and
 * before `releaseValues` deletes it.
 * @returns the id of its row
 */
async function shareText(trx: Kysely<Schema>, holder: string, text: string): Promise<number> {
  const digest = createHash("sha256").update(text).digest();
  let row: { id: number } | undefined;
  // Another transaction may insert or delete the row between the two statements.
  while (row === undefined)
    row = (await findByDigest(trx, digest))[0] ?? (await insertValue(trx, digest, text))[0];
  const { id } = row;
  await insertReference(trx, holder, id);
  return id;
}

/** The text of the column for the JSON of a value of a run. */
export async function storeJson(trx: Kysely<Schema>, runId: string, json: string): Promise<string> {
  return json.length <= INLINE_CHARS ? json : `@${await shareText(trx, runId, json)}:${json.length}`;
}

function parseReference(column: string): { id: number; chars: number } | undefined {
  const match = /^@(\d+):(\d+)$/.exec(column);
  return match === null ? undefined : { id: Number(match[1]), chars: Number(match[2]) };
}

/** Reads the JSON of a column. */
export async function storedJson(db: Kysely<Schema>, column: string): Promise<string> {
  const ref = parseReference(column);
  return ref === undefined ? column : (await findValue(db, ref.id))[0]!.body;
}

/** Reads the value of a column. */
export const decodeValue = async (db: Kysely<Schema>, column: string): Promise<unknown> =>
  JSON.parse(await storedJson(db, column));

/** The stored values of these ids. */
async function bodiesOf(db: Kysely<Schema>, ids: readonly number[]): Promise<Map<number, string>> {
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom("run_values")
          .select(["id", "body"])
          .where("id", "in", [...new Set(ids)])
          .execute();
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** Reads the values of many columns, in as few queries as possible. */
export async function decodeValues(
  db: Kysely<Schema>,
  columns: readonly (string | null)[],
): Promise<unknown[]> {
  const bodies = await bodiesOf(
    db,
    columns.flatMap((column) => parseReference(column ?? "")?.id ?? []),
  );
  return columns.map((column) => {
    if (column === null) return null;
    const ref = parseReference(column);
    return JSON.parse(ref === undefined ? column : bodies.get(ref.id)!) as unknown;
  });
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

/** The length of the text of a column, in characters. */
export const columnChars = (column: string | null): number =>
  column === null ? 0 : (parseReference(column)?.chars ?? column.length);

/**
 * Reads the texts of many columns, in as few queries as possible.
 * @param maxChars maximum length of a text that is read, in characters; a longer one is empty, with its length
 * @returns undefined for a column without a text
 */
export async function valueTexts(
  db: Kysely<Schema>,
  columns: readonly (string | null)[],
  maxChars: number,
): Promise<(ValueText | undefined)[]> {
  const refs = columns.map((column) => parseReference(column ?? ""));
  const bodies = await bodiesOf(
    db,
    refs.flatMap((ref) => (ref !== undefined && ref.chars <= maxChars ? [ref.id] : [])),
  );
  return columns.map((column, index) => {
    if (column === null) return undefined;
    const ref = refs[index];
    const chars = columnChars(column);
    const text = ref === undefined ? column : (bodies.get(ref.id) ?? "");
    return { text: chars <= maxChars ? text : "", chars };
  });
}

/** Who refers to the values of a version. It can't be the id of a run, which has no `@`. */
export const versionHolder = (workflowId: string, version: number): string => `${workflowId}@${version}`;

/**
 * The text of the column for a definition: its JSON, or a reference. The reference begins with a space, as the JSON of
 * no definition does, and is JSON itself: a release that does not know it finds an unknown field, and runs nothing.
 */
export async function encodeDefinition(
  trx: Kysely<Schema>,
  holder: string,
  json: string | null,
): Promise<string | null> {
  if (json === null || json.length <= INLINE_DEFINITION_CHARS) return json;
  return ` {"stored_value":${await shareText(trx, holder, json)}}`;
}

/** Reads the JSON of a definition from its column. */
export async function definitionText(db: Kysely<Schema>, column: string | null): Promise<string | null> {
  if (column === null || !column.startsWith(" ")) return column;
  const { stored_value: id } = JSON.parse(column) as { stored_value: number };
  return (await findValue(db, id))[0]!.body;
}

/** The column for the text of a definition. As a JSON string it never begins with a space, as a reference does. */
export const encodeText = (
  trx: Kysely<Schema>,
  holder: string,
  text: string | null,
): Promise<string | null> => encodeDefinition(trx, holder, text === null ? null : JSON.stringify(text));

/** Reads the text of a definition from its column. */
export async function decodeText(db: Kysely<Schema>, column: string | null): Promise<string | null> {
  const json = await definitionText(db, column);
  return json === null ? null : (JSON.parse(json) as string);
}

/** Reads a definition from its column. */
export async function decodeDefinition(
  db: Kysely<Schema>,
  column: string | null,
): Promise<Record<string, unknown> | null> {
  const text = await definitionText(db, column);
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}

/**
 * Deletes up to `limit` references of a run or a version, and the values that nothing refers to any more.
 * @returns whether there may be more
 */
export async function releaseValues(trx: Kysely<Schema>, holder: string, limit: number): Promise<boolean> {
  const rows = await trx
    .selectFrom("value_refs")
    .select("value_id")
    .where("holder", "=", holder)
    .limit(limit)
    .execute();
  if (rows.length === 0) return false;
  const ids = rows.map((row) => row.value_id);
  await trx.deleteFrom("value_refs").where("holder", "=", holder).where("value_id", "in", ids).execute();
  // Locked in a statement of its own: the next one then sees the references of those who had them locked.
  if (writesConcurrently(trx))
    await forUpdate(
      trx,
      trx.selectFrom("run_values").select("id").where("id", "in", ids).orderBy("id"),
    ).execute();
  await trx
    .deleteFrom("run_values")
    .where("id", "in", ids)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("value_refs").select("value_id").whereRef("value_refs.value_id", "=", "run_values.id"),
        ),
      ),
    )
    .execute();
  return rows.length >= limit;
}
