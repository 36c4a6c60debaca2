/** The types of DuckDB: what a column is claimed to arrive as, and those of scratch. (Child processes load this file.) */
import {
  BIGINT,
  BOOLEAN,
  DECIMAL,
  DOUBLE,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  HUGEINT,
  VARCHAR,
} from "@duckdb/node-api";
import type { SqlColumn } from "../../core/connections.ts";
import type { ScratchTable } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import { MAX_DECIMAL_DIGITS } from "./duckdb-limits.ts";
import { isJson } from "./duckdb-json.ts";
import {
  BOOL,
  type ColumnType,
  decimalType,
  FLOAT,
  LARGE_INTEGER,
  LOOSE,
  SMALL_INTEGER,
  TEXT,
} from "./values.ts";

/** What each type arrives as; a type that is not listed may arrive as anything. */
const CLAIMS: ReadonlyMap<DuckDBTypeId, ColumnType> = new Map([
  [DuckDBTypeId.BOOLEAN, BOOL],
  ...[
    DuckDBTypeId.TINYINT,
    DuckDBTypeId.SMALLINT,
    DuckDBTypeId.INTEGER,
    DuckDBTypeId.UTINYINT,
    DuckDBTypeId.USMALLINT,
    DuckDBTypeId.UINTEGER,
  ].map((id) => [id, SMALL_INTEGER] as const),
  ...[
    DuckDBTypeId.BIGINT,
    DuckDBTypeId.UBIGINT,
    DuckDBTypeId.HUGEINT,
    DuckDBTypeId.UHUGEINT,
    DuckDBTypeId.BIGNUM,
  ].map((id) => [id, LARGE_INTEGER] as const),
  [DuckDBTypeId.FLOAT, FLOAT],
  [DuckDBTypeId.DOUBLE, FLOAT],
  ...[
    DuckDBTypeId.VARCHAR,
    DuckDBTypeId.ENUM,
    DuckDBTypeId.UUID,
    DuckDBTypeId.BLOB,
    DuckDBTypeId.BIT,
    DuckDBTypeId.DATE,
    DuckDBTypeId.TIME,
    DuckDBTypeId.TIME_TZ,
    DuckDBTypeId.TIME_NS,
    DuckDBTypeId.TIMESTAMP,
    DuckDBTypeId.TIMESTAMP_S,
    DuckDBTypeId.TIMESTAMP_MS,
    DuckDBTypeId.TIMESTAMP_NS,
    DuckDBTypeId.TIMESTAMP_TZ,
    DuckDBTypeId.INTERVAL,
  ].map((id) => [id, TEXT] as const),
]);

export function duckdbColumnType(type: DuckDBType): Omit<SqlColumn, "name"> {
  const databaseType = type.alias ?? type.toString();
  if (isJson(type)) return { ...LOOSE, databaseType };
  const claim =
    type instanceof DuckDBDecimalType ? decimalType(type.width) : (CLAIMS.get(type.typeId) ?? LOOSE);
  return { ...claim, databaseType };
}

/** Whether the type of a column, or of a part of it such as a field, depends on a parameter without a value. */
export const hasUnresolvedType = (statement: DuckDBPreparedStatement): boolean =>
  Array.from({ length: statement.columnCount }).some((_, index) => {
    try {
      statement.columnType(index);
      return false;
    } catch {
      // The library makes no type of one that is not known.
      return true;
    }
  });

type LoadedColumn = ScratchTable["columns"][number];

const LOADED = { BIGINT, HUGEINT, DOUBLE, BOOLEAN, VARCHAR, JSON: VARCHAR } as const;

export const toDuckdbType = ({ type, scale = 0 }: LoadedColumn): DuckDBType =>
  type === "DECIMAL" ? DECIMAL(MAX_DECIMAL_DIGITS, scale) : LOADED[type];

/** The type of a column of scratch in SQL. */
export const toSqlType = (column: LoadedColumn): string =>
  column.type === "DECIMAL" ? `DECIMAL(${MAX_DECIMAL_DIGITS},${column.scale ?? 0})` : column.type;

/** A value that scratch-types.ts has prepared, as DuckDB takes it. */
export function toDuckdbValue({ type, scale = 0 }: LoadedColumn, value: SqlValue): DuckDBValue {
  if (value === null) return null;
  if (type === "BIGINT" || type === "HUGEINT") return BigInt(value);
  return type === "DECIMAL" ? new DuckDBDecimalValue(BigInt(value), MAX_DECIMAL_DIGITS, scale) : value;
}
