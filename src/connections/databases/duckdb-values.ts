/** Converts the types and values of DuckDB. (Child processes load this file.) */
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
import type { ScratchTable } from "./child-protocol.ts";
import {
  toIsoTimestamp,
  bytesToBase64,
  decimalToJson,
  floatToJson,
  integerToJson,
  parseJsonText,
} from "./values.ts";

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

/** Types that are not text, numbers or booleans; all others are text. */
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

export function duckdbColumnType(type: DuckDBType): Omit<SqlColumn, "name"> {
  const databaseType = type.alias ?? type.toString();
  if (type.typeId === DuckDBTypeId.BOOLEAN) return { type: "boolean", databaseType };
  if (NUMBERS.has(type.typeId)) return { type: "number", databaseType };
  return { type: isJson(type) || SHAPED.has(type.typeId) ? "any" : "string", databaseType };
}

/** Whether the type of a column depends on a parameter without a value. */
export const hasUnresolvedType = (statement: DuckDBPreparedStatement): boolean =>
  statement.columnCount === 1 && statement.columnTypeId(0) === DuckDBTypeId.INVALID;

const LOADED = { BIGINT, DOUBLE, BOOLEAN, VARCHAR, JSON: VARCHAR } as const;
export const toDuckdbType = (type: ScratchTable["columns"][number]["type"]): DuckDBType => LOADED[type];

/** A value as plain JSON. */
export function duckdbToJson(value: DuckDBValue, type?: DuckDBType): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return type !== undefined && isJson(type) ? parseJsonText(value) : value;
  if (typeof value === "number") return floatToJson(value);
  if (typeof value === "bigint") return integerToJson(value);
  if (value instanceof DuckDBDecimalValue) return decimalToJson(value.toString());
  if (value instanceof DuckDBBlobValue) return bytesToBase64(value.bytes);
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return value.items.map((item) => duckdbToJson(item));
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([key, item]) => [key, duckdbToJson(item)]));
  if (value instanceof DuckDBMapValue)
    return value.entries.map(({ key, value: item }) => ({
      key: duckdbToJson(key),
      value: duckdbToJson(item),
    }));
  if (value instanceof DuckDBUnionValue) return duckdbToJson(value.value);
  if (value instanceof DuckDBTimestampTZValue) return isoUtc(value);
  return toIsoTimestamp(value.toString());
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
