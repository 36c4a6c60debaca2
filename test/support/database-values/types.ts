/** The types of each database, with values and the form in which the tests compare them. */
import {
  addresses,
  booleans,
  bytes,
  dates,
  decimals,
  doubles,
  type Generator,
  integers,
  intervals,
  json,
  lists,
  orNotFinite,
  singles,
  texts,
  times,
  timestamps,
  uuids,
  words,
  zoned,
} from "./generators.ts";
import type { Kind } from "./compare.ts";

export interface ColumnType {
  /** The type in SQL. */
  type: string;
  kind: Kind;
  /** The value as an SQL expression. */
  values: Generator;
  /** What is read of the column; the column itself if it is left out. */
  read?: (column: string) => string;
  /** The text that the database writes for the column. */
  text?: (column: string) => string;
  /** The type of the column to which a value is written back, if it is another one. */
  backType?: string;
  /** How a parameter is written back; null where SQL has no way. */
  back?: ((parameter: string) => string) | null;
  /** Whether the parameter is the JSON of the value. */
  encode?: boolean;
}

const quoted =
  (generator: Generator): Generator =>
  (random) =>
    `'${generator(random).replaceAll("'", "''")}'`;
const column = (type: string, kind: Kind, values: Generator, more: Partial<ColumnType> = {}): ColumnType => ({
  type,
  kind,
  values,
  ...more,
});

const arrayOf =
  (inner: Generator): Generator =>
  (random) =>
    `ARRAY[${lists(inner)(random).join(", ")}]`;
const castArray =
  (type: string, inner: Generator): Generator =>
  (random) =>
    `${arrayOf(inner)(random)}::${type}`;
const pgArray = (type: string, inner: Generator): ColumnType =>
  column(type, "json", castArray(type, inner), {
    text: (v) => `to_json(${v})::text`,
    encode: true,
    back: (parameter) =>
      `CAST(ARRAY(SELECT jsonb_array_elements_text(CAST(${parameter} AS jsonb))) AS ${type})`,
  });

export const POSTGRES_TYPES: readonly ColumnType[] = [
  column("smallint", "number", integers(16)),
  column("integer", "number", integers(32)),
  column("bigint", "number", integers(64)),
  column("numeric", "number", decimals(40, 15)),
  column("numeric(20,4)", "number", decimals(20, 4)),
  column("numeric(17,2)", "number", decimals(17, 2), {
    read: (v) => `(SELECT SUM(x) FROM (VALUES (${v})) AS s(x))`,
  }),
  column("numeric(30,10)", "number", decimals(30, 10), { read: (v) => `COALESCE(${v}, 0)` }),
  column("numeric(24,6)", "number", decimals(24, 6), { read: (v) => `${v} * 1` }),
  column("real", "single", quoted(orNotFinite(singles)), { text: (v) => `${v}::text` }),
  column("double precision", "double", quoted(orNotFinite(doubles))),
  column("boolean", "boolean", booleans),
  column("text", "text", quoted(texts(200))),
  column("varchar(30)", "text", quoted(texts(30))),
  column("bytea", "bytes", (random) => `'\\x${bytes(40)(random)}'`, {
    text: (v) => `encode(${v}, 'hex')`,
    back: (parameter) => `decode(${parameter}, 'base64')`,
  }),
  column("date", "time", quoted(dates())),
  column("time", "time", quoted(times(6))),
  column("timestamp", "time", quoted(timestamps(6))),
  column("timestamptz", "time", quoted(zoned(timestamps(6, [2, 9998])))),
  column("interval", "text", quoted(intervals)),
  column("uuid", "text", quoted(uuids)),
  column("json", "json", quoted(json()), { encode: true }),
  column("jsonb", "json", quoted(json()), { encode: true }),
  column("mood", "text", quoted(words("ok", "sad", "very happy", "it's"))),
  column("inet", "text", quoted(addresses), { text: (v) => `host(${v})` }),
  column("money", "text", quoted(decimals(15, 2))),
  column("int4range", "text", quoted(words("[1,5)", "empty", "[,3)", "[7,)"))),
  column(
    "bit varying(20)",
    "text",
    (random) => `B'${integers(20, false)(random).replaceAll(/[2-9]/g, "1")}'`,
  ),
  pgArray("integer[]", integers(32)),
  pgArray("bigint[]", integers(64)),
  pgArray("numeric[]", decimals(30, 10)),
  pgArray("text[]", quoted(texts(20))),
  pgArray("mood[]", quoted(words("ok", "sad", "very happy"))),
  pgArray("time[]", quoted(times(6))),
];

// A backslash in a text of MariaDB escapes the character after it.
const quotedBackslash =
  (generator: Generator): Generator =>
  (random) =>
    `'${generator(random).replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
const hex = { text: (v: string) => `HEX(${v})`, back: (parameter: string) => `FROM_BASE64(${parameter})` };
const hexLiteral =
  (max: number): Generator =>
  (random) =>
    `x'${bytes(max)(random)}'`;

export const MARIADB_TYPES: readonly ColumnType[] = [
  column("TINYINT", "number", integers(8)),
  column("SMALLINT", "number", integers(16)),
  column("MEDIUMINT", "number", integers(24)),
  column("INT", "number", integers(32)),
  column("BIGINT", "number", integers(64)),
  column("TINYINT UNSIGNED", "number", integers(8, false)),
  column("INT UNSIGNED", "number", integers(32, false)),
  column("BIGINT UNSIGNED", "number", integers(64, false)),
  column("DECIMAL(60,20)", "number", decimals(60, 20)),
  column("DECIMAL(17,2)", "number", decimals(17, 2), { read: (v) => `SUM(${v}) OVER (PARTITION BY i)` }),
  column("DECIMAL(20,6)", "number", decimals(20, 6), { read: (v) => `COALESCE(${v}, 0)` }),
  column("FLOAT", "single", singles, { text: (v) => `CAST(CAST(${v} AS DOUBLE) AS CHAR)` }),
  column("DOUBLE", "double", doubles),
  column("BOOLEAN", "boolean", booleans),
  column("TEXT CHARACTER SET utf8mb4", "text", quotedBackslash(texts(200))),
  column("VARCHAR(40) CHARACTER SET utf8mb4", "text", quotedBackslash(texts(40))),
  column("BLOB", "bytes", hexLiteral(40), hex),
  column("VARBINARY(40)", "bytes", hexLiteral(40), hex),
  column("DATE", "time", quoted(dates([1000, 9999]))),
  column("TIME(6)", "time", quoted(times(6))),
  column("DATETIME(6)", "time", quoted(timestamps(6, [1000, 9999]))),
  column("DATETIME", "time", quoted(timestamps(0, [1000, 9999]))),
  column("TIMESTAMP(6) NULL", "time", quoted(timestamps(6, [1971, 2037]))),
  column("YEAR", "number", (random) => String(1901 + Math.floor(random() * 255))),
  column("ENUM('ok','sad','very happy')", "text", quoted(words("ok", "sad", "very happy"))),
  column("SET('a','b','c')", "text", quoted(words("", "a", "a,b", "a,b,c"))),
  column("UUID", "text", quoted(uuids)),
  column("INET6", "text", quoted(words("::1", "2001:db8::ff", "fe80::1:2", "::ffff:10.0.0.1"))),
  column("JSON", "json", quotedBackslash(json()), { encode: true }),
];

const duckJson = (type: string, values: Generator): ColumnType =>
  column(type, "json", values, {
    text: (v) => `CAST(to_json(${v}) AS VARCHAR)`,
    encode: true,
    back: (parameter) => `CAST(CAST(${parameter} AS JSON) AS ${type})`,
  });
const list =
  (inner: Generator): Generator =>
  (random) =>
    `[${lists(inner)(random).join(", ")}]`;

const JSON_ITEMS = [
  '{"id":9007199254740993}',
  "[-9223372036854775808,2.5]",
  '"x"',
  '"\uFEFF"',
  "null",
  "true",
  "0.1",
];

export const DUCKDB_TYPES: readonly ColumnType[] = [
  column("TINYINT", "number", integers(8)),
  column("SMALLINT", "number", integers(16)),
  column("INTEGER", "number", integers(32)),
  column("BIGINT", "number", integers(64)),
  column("HUGEINT", "number", integers(127)),
  column("UTINYINT", "number", integers(8, false)),
  column("UINTEGER", "number", integers(32, false)),
  column("UBIGINT", "number", integers(64, false)),
  column("UHUGEINT", "number", integers(128, false)),
  column("DECIMAL(18,4)", "number", decimals(18, 4)),
  column("DECIMAL(38,10)", "number", decimals(38, 10)),
  column("DECIMAL(17,2)", "number", decimals(17, 2), { read: (v) => `${v} * 1` }),
  column("FLOAT", "single", quoted(orNotFinite(singles)), {
    text: (v) => `CAST(CAST(${v} AS DOUBLE) AS VARCHAR)`,
  }),
  column("DOUBLE", "double", quoted(orNotFinite(doubles))),
  column("BOOLEAN", "boolean", booleans),
  column("VARCHAR", "text", quoted(texts(200))),
  column("BLOB", "bytes", (random) => `from_hex('${bytes(40)(random)}')`, {
    text: (v) => `hex(${v})`,
    back: (parameter) => `from_base64(${parameter})`,
  }),
  column("DATE", "time", quoted(dates())),
  column("TIME", "time", quoted(times(6))),
  column("TIMESTAMP", "time", quoted(timestamps(6))),
  column("TIMESTAMP_NS", "time", quoted(timestamps(9, [1700, 2200]))),
  column("TIMESTAMPTZ", "time", quoted(zoned(timestamps(6, [2, 9998]))), {
    text: (v) => `CAST(${v} AT TIME ZONE 'UTC' AS VARCHAR)`,
  }),
  column("INTERVAL", "text", quoted(intervals)),
  column("UUID", "text", quoted(uuids)),
  column("JSON", "json", quoted(json()), { encode: true }),
  column("ENUM('ok', 'sad', 'very happy')", "text", quoted(words("ok", "sad", "very happy"))),
  duckJson("INTEGER[]", list(integers(32))),
  duckJson("BIGINT[]", list(integers(64))),
  {
    ...duckJson("DECIMAL(30,10)[]", list(decimals(30, 10))),
    // DuckDB itself reads a number of JSON as a double.
    back: (parameter: string) => `CAST(CAST(CAST(${parameter} AS JSON) AS VARCHAR[]) AS DECIMAL(30,10)[])`,
  },
  { ...duckJson("FLOAT[]", list(quoted(singles))), kind: "singles" },
  duckJson("VARCHAR[]", list(quoted(texts(20)))),
  // DuckDB writes such a list with doubles for its fractions, so these have few digits.
  duckJson(
    "JSON[]",
    list((random) => `${quoted(words(...JSON_ITEMS))(random)}::JSON`),
  ),
  duckJson(
    "STRUCT(n BIGINT, t VARCHAR)",
    (random) => `{'n': ${integers(64)(random)}, 't': ${quoted(texts(20))(random)}}`,
  ),
  {
    ...duckJson(
      "MAP(VARCHAR, BIGINT)",
      (random) => `MAP {'a': ${integers(64)(random)}, 'b': ${integers(64)(random)}}`,
    ),
    // A map arrives as the list of its entries, because its keys may be of any type.
    text: (v: string) => `CAST(to_json(map_entries(${v})) AS VARCHAR)`,
    back: (parameter: string) =>
      `map_from_entries(CAST(CAST(${parameter} AS JSON) AS STRUCT(key VARCHAR, value BIGINT)[]))`,
  },
];

export const SQLITE_TYPES: readonly ColumnType[] = [
  column("INTEGER", "number", integers(64)),
  column("REAL", "double", doubles, { text: (v) => `printf('%!.17g', ${v})` }),
  column("NUMERIC", "number", integers(64)),
  column("TEXT", "text", quoted(texts(200))),
  column("BLOB", "bytes", hexLiteral(40), { text: (v) => `hex(${v})`, back: null }),
  // A column of this type would store a number as one.
  column(
    "JSON",
    "json",
    quoted((random) => `[${json()(random)}]`),
    { encode: true },
  ),
  column("BOOLEAN", "boolean", booleans),
  column("INTEGER", "number", integers(63), { read: (v) => `coalesce(${v}, 0)` }),
  // What a column of numbers can't hold is refused; each of these texts is written alone, too.
  ...["DECIMAL(30,10)", "REAL", "INTEGER"].map((backType) =>
    column("TEXT", "digits", quoted(decimals(24, 8)), { backType }),
  ),
  ...["REAL", "NUMERIC"].map((backType) => column("TEXT", "digits", quoted(integers(70)), { backType })),
];
