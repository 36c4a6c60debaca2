/** Converts the types and the text format of values of PostgreSQL. */
import { types } from "pg";
import type { SqlColumn } from "../../core/connections.ts";
import type { PgField } from "./cursor-query.ts";
import { parsePgArray } from "./postgres-arrays.ts";
import type { PgCatalog, PgCatalogType } from "./postgres-types.ts";
import {
  BOOL,
  type ColumnType,
  decimalToJson,
  decimalType,
  FLOAT,
  floatToJson,
  LARGE_INTEGER,
  LOOSE,
  parseJsonText,
  SMALL_INTEGER,
  TEXT,
  toIsoTimestamp,
} from "./values.ts";

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

interface PgType {
  /** What its values arrive as. */
  claim: ColumnType | ((field: PgField) => ColumnType);
  toJson(text: string): unknown;
  /** Whether its values are never long, so that samples do not truncate them. */
  short?: boolean;
}

const number = (claim: PgType["claim"], toJson: PgType["toJson"]): PgType => ({ claim, toJson, short: true });
const text = (toJson: PgType["toJson"] = (value) => value): PgType => ({ claim: TEXT, toJson });
const time = (toJson: PgType["toJson"] = (value) => value): PgType => ({ claim: TEXT, toJson, short: true });

/** A list of small integers, separated by spaces. */
const vector: PgType = {
  claim: LOOSE,
  toJson: (value) => (value === "" ? [] : value.split(" ").map(Number)),
};

/** All types but arrays that do not arrive as the server's own text; every other type does (enumerations, ranges, records). */
const TYPES: ReadonlyMap<number, PgType> = new Map([
  [builtins.BOOL, { claim: BOOL, toJson: (value) => value === "t", short: true }],
  [builtins.INT2, number(SMALL_INTEGER, Number)],
  [builtins.INT4, number(SMALL_INTEGER, Number)],
  [builtins.OID, number(SMALL_INTEGER, Number)],
  [builtins.INT8, number(LARGE_INTEGER, decimalToJson)],
  [builtins.FLOAT4, number(FLOAT, (value) => floatToJson(Number(value)))],
  [builtins.FLOAT8, number(FLOAT, (value) => floatToJson(Number(value)))],
  [builtins.NUMERIC, number((field) => decimalType(precisionOf(field)), decimalToJson)],
  [builtins.JSON, { claim: LOOSE, toJson: parseJsonText }],
  [builtins.JSONB, { claim: LOOSE, toJson: parseJsonText }],
  [builtins.BYTEA, text((value) => Buffer.from(value.slice(2), "hex").toString("base64"))],
  [builtins.TIMESTAMP, time(toIsoTimestamp)],
  [builtins.TIMESTAMPTZ, time(toIsoTimestamp)],
  [builtins.DATE, time()],
  [builtins.TIME, time()],
  [builtins.TIMETZ, time()],
  [builtins.INTERVAL, time()],
  [builtins.UUID, time()],
  // int2vector and oidvector (pg_type.dat)
  [22, vector],
  [30, vector],
] as const);

const OTHER = text();

/** Beyond this scale, or its negative, some values are too large or too small for a double. */
const MAX_DOUBLE_SCALE = 290;

/**
 * Number of digits of a numeric; undefined without a limit that a double is certain to hold. (numeric.c: behind an offset of 4,
 * the precision is in the upper half, the scale in 11 bits with a sign.)
 */
function precisionOf({ dataTypeModifier: modifier }: PgField): number | undefined {
  if (modifier < 4) return undefined;
  const scale = (((modifier - 4) & 0x7ff) ^ 1_024) - 1_024;
  return Math.abs(scale) > MAX_DOUBLE_SCALE ? undefined : ((modifier - 4) >> 16) & 0xffff;
}

/** Whether the catalog is not needed to convert values of this type. */
export const isBuiltInPgType = (id: number): boolean => NAMES.has(id) || TYPES.has(id) || ARRAYS.has(id);

/** The type as it is sent: a domain is sent as what it is based on, except in arrays. */
function resolve(id: number, catalog: PgCatalog): { id: number; type: PgCatalogType | undefined } {
  const element = ARRAYS.get(id);
  if (element !== undefined) return { id, type: { kind: "array", element, delimiter: "," } };
  const type = isBuiltInPgType(id) ? undefined : catalog.get(id);
  return type?.kind === "domain" ? resolve(type.base, catalog) : { id, type };
}

/** The type of the values of a domain; any other type is itself. */
export const basePgType = (id: number, catalog: PgCatalog): number => resolve(id, catalog).id;

function nameOf(given: number, catalog: PgCatalog): string | null {
  const { id, type } = resolve(given, catalog);
  if (type?.kind === "array") return `${nameOf(type.element, catalog) ?? "unknown"}[]`;
  return type?.kind === "other" ? type.name : (NAMES.get(id) ?? null);
}

export function pgColumn(field: PgField, catalog: PgCatalog): SqlColumn {
  const { name } = field;
  const { id, type } = resolve(field.dataTypeID, catalog);
  const databaseType = nameOf(id, catalog);
  if (type?.kind === "array") return { name, ...LOOSE, databaseType };
  const { claim } = TYPES.get(id) ?? OTHER;
  return { name, ...(typeof claim === "function" ? claim(field) : claim), databaseType };
}

/** Converts a value in the server's text format (bytea_output hex, DateStyle ISO) to plain JSON. */
export const pgToJson = (field: PgField, value: string | null, catalog: PgCatalog): unknown =>
  value === null ? null : convert(field.dataTypeID, value, catalog);

function convert(given: number, value: string, catalog: PgCatalog): unknown {
  const { id, type } = resolve(given, catalog);
  if (type?.kind !== "array") return (TYPES.get(id) ?? OTHER).toJson(value);
  const { element, delimiter } = type;
  return parsePgArray(value, delimiter, (entry) => convert(element, entry, catalog));
}

/** Maximum length of a value in samples, in characters or bytes. */
const MAX_SAMPLE_LENGTH = 1_000;

/**
 * An expression for the first part of a long value of a column, in the format that `pgToJson` reads. Truncated JSON is text, a
 * long list is null.
 */
export function truncatePgColumn(given: number, column: string, catalog: PgCatalog): string {
  const { id, type } = resolve(given, catalog);
  if (TYPES.get(id)?.short === true) return column;
  if (id === builtins.BYTEA) return `substring(${column} FROM 1 FOR ${MAX_SAMPLE_LENGTH})`;
  if (type?.kind === "array")
    return `CASE WHEN octet_length(${column}::text) <= ${MAX_SAMPLE_LENGTH} THEN ${column} END`;
  return `left(${column}::text, ${MAX_SAMPLE_LENGTH})`;
}

/** Converts a value that `truncatePgColumn` may have truncated: the beginning of a long JSON number is another number. */
export const pgSampleToJson = (field: PgField, value: string | null, catalog: PgCatalog): unknown =>
  JSON_TYPES.has(field.dataTypeID) && value?.length === MAX_SAMPLE_LENGTH
    ? value
    : pgToJson(field, value, catalog);

const JSON_TYPES: ReadonlySet<number> = new Set([builtins.JSON, builtins.JSONB]);
