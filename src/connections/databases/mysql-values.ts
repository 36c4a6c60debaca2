/** Converts types and values of MySQL and MariaDB. */
import mysql from "mysql2";
import type { SqlColumn } from "../../core/connections.ts";
import {
  bytesToBase64,
  type ColumnType,
  decimalToJson,
  decimalType,
  FLOAT,
  floatToJson,
  integerToJson,
  LARGE_INTEGER,
  LOOSE,
  parseJsonText,
  singleToJson,
  SMALL_INTEGER,
  TEXT,
  toIsoTimestamp,
} from "./values.ts";

const { Types } = mysql;

/** The part of a column's definition that is needed here. MariaDB reports `json` for text that holds JSON. */
export interface MysqlField {
  name: string;
  columnType?: number | undefined;
  characterSet?: number | undefined;
  /** Maximum length of its text; of BIT, the number of bits. */
  columnLength?: number | undefined;
  /** Digits after the point. */
  decimals?: number | undefined;
  /** Bits, such as UNSIGNED. */
  flags?: number | readonly string[] | undefined;
  /** The table whose column it is; empty if the query computes it. */
  orgTable?: string | undefined;
  extendedFormat?: string | undefined;
}

/** The character set that marks bytes, not text. */
const BINARY = 63;

/** The flag of a number without a sign. */
const UNSIGNED = 32;
/** Integers of up to this many bits are exact. */
const EXACT_BITS = 53;

type Claim = ColumnType | ((field: MysqlField) => ColumnType);

/** What each type arrives as. A type that is not listed may arrive as anything. */
const CLAIMS: ReadonlyMap<number | undefined, Claim> = new Map<number, Claim>([
  [Types.TINY, SMALL_INTEGER],
  [Types.SHORT, SMALL_INTEGER],
  [Types.INT24, SMALL_INTEGER],
  [Types.LONG, SMALL_INTEGER],
  [Types.YEAR, SMALL_INTEGER],
  [Types.LONGLONG, LARGE_INTEGER],
  [Types.BIT, ({ columnLength = Infinity }) => (columnLength <= EXACT_BITS ? SMALL_INTEGER : LARGE_INTEGER)],
  [Types.DECIMAL, (field) => decimalType(precisionOf(field))],
  [Types.NEWDECIMAL, (field) => decimalType(precisionOf(field))],
  [Types.FLOAT, FLOAT],
  [Types.DOUBLE, FLOAT],
  ...[
    Types.DATE,
    Types.NEWDATE,
    Types.TIME,
    Types.TIMESTAMP,
    Types.DATETIME,
    Types.VARCHAR,
    Types.VAR_STRING,
    Types.STRING,
    Types.ENUM,
    Types.SET,
    Types.TINY_BLOB,
    Types.BLOB,
    Types.MEDIUM_BLOB,
    Types.LONG_BLOB,
  ].map((type) => [type, TEXT] as const),
]);

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

export const isNumberType = (type: number | undefined): boolean => NUMBERS.has(type);

const TIMES: ReadonlySet<number | undefined> = new Set([
  Types.DATE,
  Types.NEWDATE,
  Types.TIME,
  Types.TIMESTAMP,
  Types.DATETIME,
]);

export const isTimeType = (type: number | undefined): boolean => TIMES.has(type);

/** Number of digits of a decimal: its length without the sign and the point. */
function precisionOf({ columnLength, decimals = 0, flags }: MysqlField): number | undefined {
  if (columnLength === undefined) return undefined;
  const unsigned = typeof flags === "number" && (flags & UNSIGNED) !== 0;
  return columnLength - (decimals > 0 ? 1 : 0) - (unsigned ? 0 : 1);
}

export const isJson = ({ columnType, extendedFormat }: MysqlField): boolean =>
  columnType === Types.JSON || extendedFormat === "json";

/**
 * @param hasParameters whether the statement has parameters: the server only knows the types of expressions with them once
 *   they have values
 */
export function mysqlColumn(field: MysqlField, hasParameters = false): SqlColumn {
  const { name, columnType } = field;
  const typeName =
    columnType === undefined ? undefined : (Types as unknown as Record<number, string>)[columnType];
  const databaseType = typeName?.toLowerCase() ?? null;
  const claim = CLAIMS.get(columnType) ?? LOOSE;
  if (isJson(field)) return { name, ...LOOSE, databaseType };
  const known = typeof claim === "function" ? claim(field) : claim;
  if (hasParameters && !field.orgTable) return { name, ...known, type: "any", databaseType };
  return { name, ...known, databaseType };
}

/** Types that are never long, so samples do not truncate them. */
const SHORT: ReadonlySet<number | undefined> = new Set([...NUMBERS, ...TIMES]);
/** Maximum length of a value in samples, in characters or bytes. */
export const MAX_SAMPLE_LENGTH = 1_000;

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
  if (typeof value === "number") return columnType === Types.FLOAT ? singleToJson(value) : floatToJson(value);
  if (typeof value !== "string") return value;
  if (NUMBERS.has(columnType)) return decimalToJson(value);
  if (isJson(field)) return parseJsonText(value);
  if (columnType === Types.DATETIME) return toIsoTimestamp(value);
  // The session's zone is UTC. A zero date is no moment.
  if (columnType === Types.TIMESTAMP)
    return `${toIsoTimestamp(value)}${value.startsWith("0000-") ? "" : "Z"}`;
  return value;
}
