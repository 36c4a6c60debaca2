/** Converts the types and the text format of values of PostgreSQL. */
import { types } from "pg";
import type { SqlColumn } from "../../core/connections.ts";
import type { PgField } from "./cursor-query.ts";
import { toIsoTimestamp, decimalToJson, parseJsonText } from "./values.ts";

/** Plain numbers, because the server has more type ids than this list. */
const builtins: Readonly<Record<keyof typeof types.builtins, number>> = types.builtins;

/** The SQL names of built-in types, by their ids. */
const NAMES = new Map(Object.entries(builtins).map(([name, id]) => [id, name.toLowerCase()]));

/** Array types, by the id of their element type (pg_type.dat). */
const ARRAYS = new Map<number, number>([
  [1000, builtins.BOOL],
  [1001, builtins.BYTEA],
  [1005, builtins.INT2],
  [1007, builtins.INT4],
  [1016, builtins.INT8],
  [1021, builtins.FLOAT4],
  [1022, builtins.FLOAT8],
  [1231, builtins.NUMERIC],
  [1009, builtins.TEXT],
  [1015, builtins.VARCHAR],
  [1014, builtins.BPCHAR],
  [1182, builtins.DATE],
  [1115, builtins.TIMESTAMP],
  [1185, builtins.TIMESTAMPTZ],
  [2951, builtins.UUID],
  [199, builtins.JSON],
  [3807, builtins.JSONB],
]);

const NUMBERS: ReadonlySet<number> = new Set([
  builtins.INT2,
  builtins.INT4,
  builtins.INT8,
  builtins.OID,
  builtins.FLOAT4,
  builtins.FLOAT8,
  builtins.NUMERIC,
]);
const JSONS: ReadonlySet<number> = new Set([builtins.JSON, builtins.JSONB]);

export function pgColumn({ name, dataTypeID: id }: PgField): SqlColumn {
  const element = ARRAYS.get(id);
  const databaseType = element === undefined ? (NAMES.get(id) ?? null) : `${NAMES.get(element)}[]`;
  if (id === builtins.BOOL) return { name, type: "boolean", databaseType };
  if (NUMBERS.has(id)) return { name, type: "number", databaseType };
  // Other types are text: enumerations, domains, types of extensions.
  return { name, type: JSONS.has(id) || element !== undefined ? "any" : "string", databaseType };
}

/** Converts a value in the server's text format (bytea_output hex, DateStyle ISO) to plain JSON. */
export function pgToJson(id: number, text: string | null): unknown {
  if (text === null) return null;
  const element = ARRAYS.get(id);
  // The types of the library are older than its parser.
  const parse = types as unknown as {
    arrayParser: { create(text: string, each: (entry: string | null) => unknown): { parse(): unknown[] } };
  };
  if (element !== undefined)
    return parse.arrayParser.create(text, (entry) => pgToJson(element, entry)).parse();
  if (id === builtins.BOOL) return text === "t";
  if (NUMBERS.has(id)) return plainNumber(id, text);
  if (JSONS.has(id)) return parseJsonText(text);
  if (id === builtins.BYTEA) return Buffer.from(text.slice(2), "hex").toString("base64");
  return id === builtins.TIMESTAMP || id === builtins.TIMESTAMPTZ ? toIsoTimestamp(text) : text;
}

/** Times and numbers: never long, so samples do not truncate them. */
const SHORT: ReadonlySet<number> = new Set([
  ...NUMBERS,
  builtins.BOOL,
  builtins.DATE,
  builtins.TIME,
  builtins.TIMETZ,
  builtins.TIMESTAMP,
  builtins.TIMESTAMPTZ,
  builtins.INTERVAL,
  builtins.UUID,
]);
/** Maximum length of a value in samples, in characters or bytes. */
const MAX_SAMPLE_LENGTH = 1_000;

/**
 * An expression for the first part of a long value of a column, in the format that `plainPg` reads. Truncated JSON is text, a
 * long list is null.
 */
export function truncatePgColumn(id: number, column: string): string {
  if (SHORT.has(id)) return column;
  if (id === builtins.BYTEA) return `substring(${column} FROM 1 FOR ${MAX_SAMPLE_LENGTH})`;
  if (ARRAYS.has(id))
    return `CASE WHEN octet_length(${column}::text) <= ${MAX_SAMPLE_LENGTH} THEN ${column} END`;
  return `left(${column}::text, ${MAX_SAMPLE_LENGTH})`;
}

/** A double is always exact; NaN and Infinity stay text. */
function plainNumber(id: number, text: string): number | string {
  if (id !== builtins.FLOAT4 && id !== builtins.FLOAT8) return decimalToJson(text);
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
