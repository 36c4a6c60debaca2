/** DuckDB's types and values in our words. (Children load this file.) */
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  type DuckDBPreparedStatement,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBValue,
  VARCHAR,
} from "@duckdb/node-api";
import type { SqlColumn } from "../../core/connections.ts";
import type { LoadedTable } from "./child-protocol.ts";
import { isoTimestamp, plainBytes, plainDecimal, plainFloat, plainInteger, plainJson } from "./values.ts";

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
]);

/** What is neither number nor boolean nor one of these is text. */
const SHAPED: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.INVALID,
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
  DuckDBTypeId.VARIANT,
  DuckDBTypeId.SQLNULL,
  DuckDBTypeId.ANY,
]);

const isJson = (type: DuckDBType): boolean => type.alias === "JSON";

export function columnType(type: DuckDBType): Omit<SqlColumn, "name"> {
  const declared = type.alias ?? type.toString();
  if (type.typeId === DuckDBTypeId.BOOLEAN) return { type: "boolean", declared };
  if (NUMBERS.has(type.typeId)) return { type: "number", declared };
  return { type: isJson(type) || SHAPED.has(type.typeId) ? "any" : "string", declared };
}

/** Whether a column's type hangs on a parameter that has no value yet. */
export const isUnresolved = (statement: DuckDBPreparedStatement): boolean =>
  statement.columnCount === 1 && statement.columnTypeId(0) === DuckDBTypeId.INVALID;

const LOADED = { BIGINT, DOUBLE, BOOLEAN, VARCHAR, JSON: VARCHAR } as const;
export const loadedType = (type: LoadedTable["columns"][number]["type"]): DuckDBType => LOADED[type];

/** A value as plain JSON. */
export function plainDuckdb(value: DuckDBValue, type?: DuckDBType): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return type !== undefined && isJson(type) ? plainJson(value) : value;
  if (typeof value === "number") return plainFloat(value);
  if (typeof value === "bigint") return plainInteger(value);
  if (value instanceof DuckDBDecimalValue) return plainDecimal(value.toString());
  if (value instanceof DuckDBBlobValue) return plainBytes(value.bytes);
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return value.items.map((item) => plainDuckdb(item));
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([key, item]) => [key, plainDuckdb(item)]));
  if (value instanceof DuckDBMapValue)
    return value.entries.map(({ key, value: item }) => ({ key: plainDuckdb(key), value: plainDuckdb(item) }));
  if (value instanceof DuckDBUnionValue) return plainDuckdb(value.value);
  if (value instanceof DuckDBTimestampTZValue) return isoUtc(value);
  return isoTimestamp(value.toString());
}

/** In UTC, to the microsecond where it says more than milliseconds. */
function isoUtc(value: DuckDBTimestampTZValue): string {
  const date = new Date(Number(value.micros / 1_000n));
  if (Number.isNaN(date.getTime())) return value.toString();
  const rest = value.micros % 1_000n;
  return rest === 0n
    ? date.toISOString()
    : date.toISOString().replace("Z", `${String(rest).padStart(3, "0")}Z`);
}
