/**
 * The values of parameters of MySQL and MariaDB. Servers compare a text with a decimal as doubles, and calculate with it as one; and they
 * read a time from a text without its offset, or refuse the Z. So a long number that meets a number is bound as a decimal, and a moment
 * that meets a time as one in UTC, which is the zone of the session. Where they meet a text, they are the text that they are.
 */
import mysql, { type Connection } from "mysql2";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { StepError } from "../../core/step-errors.ts";
import type { SqlValue, Statement } from "./driver.ts";
import { readMoment } from "./moments.ts";
import { isNumberType, isTimeType } from "./mysql-values.ts";
import { executeStatement } from "./mysql-statements.ts";

/** Constructors of values with a type. The declarations of the library don't have them. */
const { TypedParameter } = mysql as unknown as {
  TypedParameter: { NEWDECIMAL(text: string): object; LONGLONG(integer: number): object };
};

/** What the server makes of a parameter. */
type Meets = "text" | "number" | "time";

/**
 * A value of MariaDB that any text can be compared with and stored as, but no number and no time. A statement that has it in the place of
 * a parameter is refused when it is prepared, or explained, if the parameter meets one of these.
 */
const PROBE = "CAST('::' AS INET6)";
/** ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION, with the types of both operands, and ER_…_TYPE_FOR_OPERATION. */
const TWO_TYPES = 4078;
const ONE_TYPE = 4079;
/** Functions that return one of their arguments: beside a number a text stays a text. */
const CHOICE = /for operation '(?:coalesce|ifnull|nullif|if|case|case\.\.when|greatest|least|union)'$/;
const TIME = /\b(?:date|time|datetime|timestamp|interval)\b/;

/** The driver binds numbers as doubles, which servers write with an exponent from here on, in a text and in JSON. */
const MIN_EXPONENT = 1e15;

/** Limits of a decimal: digits, and digits behind the point (30 in MySQL, 38 in MariaDB). */
const MAX_DIGITS = 65;
const MAX_DECIMALS = 30;

const isLargeInteger = (value: SqlValue): value is number =>
  Number.isSafeInteger(value) && Math.abs(value as number) >= MIN_EXPONENT;

/** The text of a number with more digits than a double is certain to hold, if a decimal can hold it. */
function decimalText(value: SqlValue): string | undefined {
  const isLong = isLongNumber(value) || (typeof value === "number" && !Number.isInteger(value));
  const [, whole = "", decimals = ""] = (isLong && /^-?(\d+)(?:\.(\d+))?$/.exec(String(value))) || [];
  const digits = whole.length + decimals.length;
  return digits > 15 && digits <= MAX_DIGITS && decimals.length <= MAX_DECIMALS ? String(value) : undefined;
}

/**
 * Returns the values of a statement as the driver binds them. For each long number and each moment this asks the server once or twice.
 * @param connection in the transaction of the statement
 */
export async function bindMysqlValues(connection: Connection, statement: Statement): Promise<unknown[]> {
  const bound: unknown[] = [];
  for (const [position, value] of statement.values.entries()) {
    const decimal = decimalText(value);
    const moment = readMoment(value);
    const meets =
      decimal === undefined && moment === undefined
        ? "text"
        : await findMeets(connection, statement, position);
    if (decimal !== undefined && meets === "number") bound.push(TypedParameter.NEWDECIMAL(decimal));
    else if (moment !== undefined && meets === "time") bound.push(`${moment.date} ${moment.time}`);
    else bound.push(isLargeInteger(value) ? TypedParameter.LONGLONG(value) : value);
  }
  return bound;
}

async function findMeets(
  connection: Connection,
  { text, values, write, render }: Statement,
  position: number,
): Promise<Meets> {
  // Stays prepared for its execution.
  const { parameters } = await prepare(connection, text);
  const type = parameters[position]?.columnType;
  if (isNumberType(type)) return "number";
  if (isTimeType(type)) return "time";
  // MySQL knows the types of parameters; MariaDB says that all are NULL.
  if (type !== mysql.Types.NULL) return "text";
  let placeholders = 0;
  const probing = render(() => (placeholders++ === position ? PROBE : "?")).text;
  const others = values.filter((_, index) => index !== position);
  const refusal =
    (await refusalOf(prepare(connection, probing).finally(() => connection.unprepare(probing)))) ??
    // What is stored in a column is checked only here.
    (write ? await refusalOf(executeStatement(connection, `EXPLAIN ${probing}`, others)) : undefined);
  if (refusal === undefined) return "text";
  if (TIME.test(refusal)) return "time";
  if (readMoment(values[position]) === undefined) return "number";
  return CHOICE.test(refusal) ? "text" : "time";
}

/** The message of the server, if it refuses the probe. */
async function refusalOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const { errno, sqlState, message } = error as Error & { errno?: number; sqlState?: string };
    if (errno === TWO_TYPES || errno === ONE_TYPE) return message;
    // Any other error of the server is reported by the statement itself; without a state it is the connection's.
    if (sqlState === undefined) throw error;
    return undefined;
  }
}

interface Prepared {
  parameters: { columnType: number }[];
}

const prepare = (connection: Connection, text: string): Promise<Prepared> =>
  new Promise((resolve, reject) => {
    connection.prepare(text, (error, prepared) =>
      error ? reject(error) : resolve(prepared as unknown as Prepared),
    );
  });

/**
 * Refuses the result of a statement for which the server read a time from a text and left out its offset, in a function that takes texts.
 * @param bound what `bindMysqlValues` returned
 */
export async function assertOffsetsRead(connection: Connection, bound: readonly unknown[]): Promise<void> {
  const moments = bound.filter((value) => readMoment(value)?.isShifted === true).map(String);
  if (moments.length === 0) return;
  const warnings = await readWarnings(connection);
  const ignored = moments.find((moment) => warnings.some((warning) => warning.includes(`'${moment}'`)));
  if (ignored === undefined) return;
  throw new StepError("database_failed", `The server reads ${ignored} as a time without its offset.`, {
    fix: "Cast it in the query: CAST(:name AS DATETIME(6)), or pass the moment in UTC.",
  });
}

/** The messages of the last statement. A prepared statement would discard them. */
const readWarnings = (connection: Connection): Promise<string[]> =>
  new Promise((resolve, reject) => {
    connection.query("SHOW WARNINGS", (error, rows) =>
      error ? reject(error) : resolve((rows as unknown as unknown[][]).map((row) => String(row[2]))),
    );
  });
