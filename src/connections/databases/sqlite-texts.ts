/** Texts of SQLite that are no UTF-8: SQLite stores any bytes as a text, and node:sqlite replaces what it can't decode by U+FFFD. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { TextDecoder } from "node:util";
import type { ChildFailure } from "./child-protocol.ts";
import type { BoundValue } from "./sqlite-parameters.ts";

/** Maximum number of bytes that an error shows. */
const SHOWN_BYTES = 8;

/** Whether a value may have been changed: a text with U+FFFD may also be stored with it. */
export const mayBeReplaced = (value: SQLOutputValue): boolean =>
  typeof value === "string" && value.includes("\uFFFD");

/**
 * Reads the bytes of a query's texts.
 * @param query runs once more, if it only reads: a statement that writes and returns rows is not examined
 * @returns the error of the first text in its first `rows` rows that is no UTF-8
 */
export function undecodableText(
  db: DatabaseSync,
  query: { text: string; values: BoundValue[]; columns: readonly string[] },
  rows: number,
): ChildFailure | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const names = query.columns.map((_, index) => `c${index}`);
  const bytes = names.map((name) => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END`);
  const text = query.text.replace(/;\s*$/, "");
  const statement = readingStatement(
    db,
    `WITH read_again(${names.join(", ")}) AS (${text}\n) SELECT ${bytes.join(", ")} FROM read_again LIMIT ${rows}`,
  );
  const found = statement?.iterate(...query.values) as Iterable<(Uint8Array | null)[]> | undefined;
  for (const row of found ?? []) {
    for (const [index, value] of row.entries()) {
      if (value === null || isDecodable(decoder, value)) continue;
      const start = Buffer.from(value.subarray(0, SHOWN_BYTES)).toString("hex");
      const name = query.columns[index]!;
      return {
        code: "database_failed",
        message:
          `The column ${name} has a text that is not UTF-8: its bytes are ${start}` +
          `${value.length > SHOWN_BYTES ? "…" : ""} in hexadecimal.`,
        fix: `Select hex(x) or CAST(x AS BLOB) for the bytes, where x is what the query selects as ${name}, or correct the row.`,
      };
    }
  }
  return undefined;
}

/** @returns undefined for a statement that writes, which can't be part of another one */
function readingStatement(db: DatabaseSync, text: string): StatementSync | undefined {
  try {
    const statement = db.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  } catch {
    return undefined;
  }
}

function isDecodable(decoder: TextDecoder, bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
