/** Converts types and values of MySQL and MariaDB. */
import mysql from "mysql2";
import type { SqlColumn } from "../../core/connections.ts";
import {
  toIsoTimestamp,
  bytesToBase64,
  decimalToJson,
  floatToJson,
  integerToJson,
  parseJsonText,
} from "./values.ts";

const { Types } = mysql;

/** The part of a column's definition that is needed here. MariaDB reports `json` for text that holds JSON. */
export interface MysqlField {
  name: string;
  columnType?: number | undefined;
  characterSet?: number | undefined;
  extendedFormat?: string | undefined;
}

/** The character set that marks bytes, not text. */
const BINARY = 63;

const NUMBERS: ReadonlySet<number | undefined> = new Set([
  Types.DECIMAL,
  Types.NEWDECIMAL,
  Types.TINY,
  Types.SHORT,
  Types.LONG,
  Types.LONGLONG,
  Types.INT24,
  Types.YEAR,
  Types.FLOAT,
  Types.DOUBLE,
  Types.BIT,
]);

export const isJson = ({ columnType, extendedFormat }: MysqlField): boolean =>
  columnType === Types.JSON || extendedFormat === "json";

export function mysqlColumn(field: MysqlField): SqlColumn {
  const { name, columnType } = field;
  const typeName =
    columnType === undefined ? undefined : (Types as unknown as Record<number, string>)[columnType];
  const databaseType = typeName?.toLowerCase() ?? null;
  if (NUMBERS.has(columnType)) return { name, type: "number", databaseType };
  return { name, type: isJson(field) || columnType === Types.GEOMETRY ? "any" : "string", databaseType };
}

/** Types that are never long, so samples do not truncate them. */
const SHORT: ReadonlySet<number | undefined> = new Set([
  ...NUMBERS,
  Types.DATE,
  Types.TIME,
  Types.TIMESTAMP,
  Types.DATETIME,
]);
/** Maximum length of a value in samples, in characters or bytes. */
const MAX_SAMPLE_LENGTH = 1_000;

/** An expression for the first part of a long value of a column; JSON becomes text. */
export function truncateMysqlColumn({ columnType }: MysqlField, column: string): string {
  if (SHORT.has(columnType)) return column;
  return `LEFT(${columnType === Types.GEOMETRY ? `ST_AsText(${column})` : column}, ${MAX_SAMPLE_LENGTH})`;
}

/** Converts a value of the driver, which returns dates and large numbers as text. */
export function mysqlToJson(field: MysqlField, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  const { columnType, characterSet } = field;
  if (Buffer.isBuffer(value)) {
    if (columnType === Types.BIT)
      return integerToJson(value.length === 0 ? 0n : BigInt(`0x${value.toString("hex")}`));
    return characterSet === BINARY ? bytesToBase64(value) : value.toString("utf8");
  }
  if (typeof value === "bigint") return integerToJson(value);
  if (typeof value === "number") return floatToJson(value);
  if (typeof value !== "string") return value;
  if (NUMBERS.has(columnType)) return decimalToJson(value);
  if (isJson(field)) return parseJsonText(value);
  return columnType === Types.TIMESTAMP || columnType === Types.DATETIME ? toIsoTimestamp(value) : value;
}
