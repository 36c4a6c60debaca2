/** The values of parameters of DuckDB. (Child processes load this file.) */
import {
  BIGINT,
  DECIMAL,
  type DuckDBConnection,
  DuckDBDecimalValue,
  type DuckDBPreparedStatement,
  type DuckDBType,
  DuckDBTypeId,
  HUGEINT,
} from "@duckdb/node-api";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { uncastParameters } from "./casts.ts";
import type { BoundText } from "./child-protocol.ts";
import type { SqlValue } from "./driver.ts";
import { MAX_DECIMAL_DIGITS, MAX_INT128, MAX_INT64 } from "./duckdb-limits.ts";
import { readMoment, utcText } from "./moments.ts";
import { singleToJson } from "./values.ts";

const INTEGERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
]);
const EXACT: ReadonlySet<DuckDBTypeId> = new Set([...INTEGERS, DuckDBTypeId.DECIMAL]);
const NUMERIC: ReadonlySet<DuckDBTypeId> = new Set([...EXACT, DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE]);
/** DuckDB leaves out the offset of a moment for a type without a zone, and refuses some spellings for the one with a zone. */
const TIMES: ReadonlySet<DuckDBTypeId | undefined> = new Set([
  DuckDBTypeId.DATE,
  DuckDBTypeId.TIME,
  DuckDBTypeId.TIME_NS,
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
]);
const UNKNOWN: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.INVALID,
  DuckDBTypeId.ANY,
  DuckDBTypeId.SQLNULL,
]);

/** The type that the statement gives a parameter, counted from 0; undefined where it depends on the value. */
function parameterType(statement: DuckDBPreparedStatement, index: number): DuckDBType | undefined {
  try {
    const type = statement.parameterType(index + 1);
    return UNKNOWN.has(type.typeId) ? undefined : type;
  } catch {
    return undefined;
  }
}

/**
 * Binds values so that the query compares and calculates with exactly these numbers. DuckDB converts a text to the type of what
 * it is compared with, and rounds a decimal for an integer then; a double makes doubles of the integers that it is compared with.
 * @param times the positions, from 0 on, at which a moment is a time although the statement does not say so
 */
export function bind(
  statement: DuckDBPreparedStatement,
  values: readonly SqlValue[],
  times: ReadonlySet<number> = new Set(),
): void {
  values.forEach((value, index) => {
    const at = index + 1;
    if (value === null) statement.bindNull(at);
    else if (typeof value === "boolean") statement.bindBoolean(at, value);
    else if (typeof value === "string") bindText(statement, index, value, times.has(index));
    else if (Number.isSafeInteger(value)) statement.bindValue(at, BigInt(value), BIGINT);
    else bindDouble(statement, index, value);
  });
}

/** How a statement takes the moments that DuckDB would read without their offset. */
interface MomentsFound {
  /** The moments in UTC at places that take one as a time. */
  times: ReadonlyMap<number, string>;
  /** Whether a place has no type. */
  areUntyped: boolean;
  /** Whether the query does not cast one at a place without a type. */
  areUnclear: boolean;
  /** Whether a place takes one as a text, or has no type. */
  areTexts: boolean;
  /** Whether the query does not cast one there. */
  areUncast: boolean;
}

export function placesOfMoments(
  statement: DuckDBPreparedStatement,
  { text, values }: BoundText,
): MomentsFound {
  const shifted = [...values.keys()].filter((index) => readMoment(values[index])?.isShifted === true);
  const isTime = (index: number): boolean => TIMES.has(parameterType(statement, index)?.typeId);
  const untyped = shifted.filter((index) => parameterType(statement, index) === undefined);
  const texts = shifted.filter((index) => !isTime(index));
  const uncast = texts.length > 0 ? uncastParameters(text, "$") : new Set<number>();
  const isUncast = (index: number): boolean => uncast.has(index + 1);
  return {
    times: new Map(shifted.filter(isTime).map((index) => [index, utcText(readMoment(values[index])!)])),
    areUntyped: untyped.length > 0,
    areUnclear: untyped.some(isUncast),
    areTexts: texts.length > 0,
    areUncast: texts.some(isUncast),
  };
}

/** A long number is a number, and a moment one in UTC, except where the statement takes a text, or does not say what it takes. */
function bindText(
  statement: DuckDBPreparedStatement,
  index: number,
  value: string,
  isTimeAnyway: boolean,
): void {
  const moment = readMoment(value);
  if (moment !== undefined) {
    const isTime = isTimeAnyway || TIMES.has(parameterType(statement, index)?.typeId);
    return statement.bindVarchar(index + 1, isTime ? utcText(moment) : value);
  }
  const type = isLongNumber(value) ? parameterType(statement, index)?.typeId : DuckDBTypeId.VARCHAR;
  if (type !== undefined && !NUMERIC.has(type)) return statement.bindVarchar(index + 1, value);
  if (!bindDigits(statement, index, digitsOf(value))) statement.bindVarchar(index + 1, value);
}

/** An integer that is multiplied by ten as often as there are decimals, and their number. */
interface Digits {
  integer: bigint;
  decimals: number;
}

/** @param text a number in decimal notation, or in that of JavaScript: with an exponent */
function digitsOf(text: string): Digits {
  const [mantissa = "", exponent = "0"] = text.split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const decimals = fraction.length - Number(exponent);
  const integer = BigInt(whole + fraction);
  return decimals < 0 ? { integer: integer * 10n ** BigInt(-decimals), decimals: 0 } : { integer, decimals };
}

/** @returns false for more digits than the exact numbers of DuckDB have */
function bindDigits(
  statement: DuckDBPreparedStatement,
  index: number,
  { integer, decimals }: Digits,
): boolean {
  const size = integer < 0n ? -integer : integer;
  if (decimals === 0 && size <= MAX_INT128) {
    statement.bindValue(index + 1, integer, size <= MAX_INT64 ? BIGINT : HUGEINT);
    return true;
  }
  const width = Math.max(String(size).length, decimals);
  if (width > MAX_DECIMAL_DIGITS) return false;
  statement.bindValue(index + 1, new DuckDBDecimalValue(integer, width, decimals), DECIMAL(width, decimals));
  return true;
}

/** DuckDB converts decimals of this many digits to exactly the double that has them, as it does with those in a query. */
const EXACT_DIGITS = 10n ** 15n;

/** Binds a number that is no integer of up to 53 bits: as its digits where a double would be rounded for a decimal. */
function bindDouble(statement: DuckDBPreparedStatement, index: number, value: number): void {
  const type = parameterType(statement, index)?.typeId;
  const digits = digitsOf(String(value));
  const isShort = digits.decimals > 0 && digits.integer < EXACT_DIGITS && digits.integer > -EXACT_DIGITS;
  const isExact = type === undefined ? isShort : EXACT.has(type);
  if (isExact && bindDigits(statement, index, digits)) return undefined;
  // A number of single precision finds itself by the digits with which it arrived.
  if (type === DuckDBTypeId.FLOAT && singleToJson(Math.fround(value)) === value)
    return statement.bindFloat(index + 1, value);
  return statement.bindDouble(index + 1, value);
}

/**
 * Finds the known values that their parameters do not accept. EXPLAIN binds a statement with a value, but does not run it; the
 * type that the statement gives a parameter says whether a text can be converted.
 * @param values in the order of the parameters; null where it is not known
 */
export async function unfitDuckdbValues(
  connection: DuckDBConnection,
  statement: DuckDBPreparedStatement,
  text: string,
  values: readonly SqlValue[],
): Promise<{ position: number; message: string }[]> {
  if (values.every((value) => value === null)) return [];
  const only = (position: number): SqlValue[] =>
    values.map((value, index) => (index === position ? value : null));
  // A statement that can't be explained without values says nothing about them.
  if ((await errorOf(connection, `EXPLAIN ${text}`, only(-1))) !== undefined) return [];
  const unfit: { position: number; message: string }[] = [];
  for (const [position, value] of values.entries()) {
    if (value === null) continue;
    const message =
      (await errorOf(connection, `EXPLAIN ${text}`, only(position))) ??
      (await conversionError(connection, statement, position, value));
    if (message !== undefined) unfit.push({ position, message });
  }
  return unfit;
}

/** The error of converting a text to the type of its parameter, if the statement says which it is. */
async function conversionError(
  connection: DuckDBConnection,
  statement: DuckDBPreparedStatement,
  position: number,
  value: SqlValue,
): Promise<string | undefined> {
  const type = parameterType(statement, position);
  if (typeof value !== "string" || isLongNumber(value) || type === undefined) return undefined;
  return errorOf(connection, `SELECT CAST($1 AS ${type.toString()})`, [value]);
}

/** The first line of the error of a statement; undefined if there is none. */
async function errorOf(
  connection: DuckDBConnection,
  text: string,
  values: readonly SqlValue[],
): Promise<string | undefined> {
  try {
    const statement = await connection.prepare(text);
    bind(statement, values);
    await statement.run();
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  }
}
