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

/** The type of the other operand, or of the column, of a parameter. */
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
 * Maximum number of parameters of a statement that MariaDB is asked about one by one, with up to two round trips each. Rows of
 * `VALUES` with a placeholder at the same place count once.
 */
const MAX_PROBED = 50;

/**
 * Returns the values of a statement as the driver binds them. For long numbers and moments this asks the server where they are used.
 * @param connection in the transaction of the statement
 */
export async function bindMysqlValues(connection: Connection, statement: Statement): Promise<unknown[]> {
  const { values } = statement;
  const asked = [...values.keys()].filter(
    (position) => decimalText(values[position]!) !== undefined || readMoment(values[position]) !== undefined,
  );
  const meets = asked.length === 0 ? new Map<number, Meets>() : await findMeets(connection, statement, asked);
  return values.map((value, position) => {
    if (meets.get(position) === "number") {
      const decimal = decimalText(value);
      if (decimal !== undefined) return TypedParameter.NEWDECIMAL(decimal);
    } else if (meets.get(position) === "time") {
      const moment = readMoment(value);
      if (moment !== undefined) return `${moment.date} ${moment.time}`;
    }
    return isLargeInteger(value) ? TypedParameter.LONGLONG(value) : value;
  });
}

async function findMeets(
  connection: Connection,
  statement: Statement,
  positions: readonly number[],
): Promise<Map<number, Meets>> {
  // Stays prepared for its execution.
  const { parameters } = await prepare(connection, statement.text);
  const meets = new Map<number, Meets>();
  const unknown: number[] = [];
  for (const position of positions) {
    const type = parameters[position]?.columnType;
    // MySQL knows the types of parameters; MariaDB says that all are NULL.
    if (type === mysql.Types.NULL) unknown.push(position);
    else meets.set(position, isNumberType(type) ? "number" : isTimeType(type) ? "time" : "text");
  }
  if (unknown.length === 0) return meets;
  const first = findFirstRow(statement.text);
  const probed = [...new Set(unknown.map(first))];
  // Most texts that are moments are stored as texts: then the server accepts all probes at once.
  if (probed.length > 1 && (await serverErrorOf(probe(connection, statement, probed))) === undefined)
    return new Map([...meets, ...unknown.map((position) => [position, "text"] as const)]);
  if (probed.length > MAX_PROBED) throw tooManyProbed(probed.length);
  const refusals = new Map<number, string>();
  for (const position of probed) {
    const error = await serverErrorOf(probe(connection, statement, [position]));
    // Any other error is reported by the statement itself.
    if (error?.errno === TWO_TYPES || error?.errno === ONE_TYPE) refusals.set(position, error.message);
  }
  for (const position of unknown)
    meets.set(
      position,
      meetsOf(refusals.get(first(position)), readMoment(statement.values[position]) !== undefined),
    );
  return meets;
}

function meetsOf(refusal: string | undefined, isMoment: boolean): Meets {
  if (refusal === undefined) return "text";
  if (TIME.test(refusal)) return "time";
  if (!isMoment) return "number";
  return CHOICE.test(refusal) ? "text" : "time";
}

const tooManyProbed = (count: number): StepError =>
  new StepError(
    "input_invalid",
    `The statement has ${count} parameters that are long numbers or moments; at most ${MAX_PROBED} can be bound where MariaDB compares or stores one as a number or a time.`,
    {
      fix: "Write fewer rows at a time, or all in one INSERT … VALUES whose rows have the same placeholders; pass a list as JSON text, and read it with JSON_TABLE.",
    },
  );

/** An INSERT whose rows have only placeholders, numbers and words such as NULL; nothing before them has a placeholder. */
const INSERT_ROWS =
  /^\s*(?:insert|replace)\b(?:(?!\bselect\b)[^?'"])*?\bvalues?\s*((?:\(\s*[-\w.?]+(?:\s*,\s*[-\w.?]+)*\s*\)\s*,?\s*)+)/i;

/**
 * The server checks only the first row of `VALUES` while it explains a statement.
 * @returns for the position of a parameter in a later row that of the parameter for the same column in the first row; itself for others
 */
function findFirstRow(text: string): (position: number) => number {
  const rows = (INSERT_ROWS.exec(text)?.[1]?.match(/\([^)]*\)/g) ?? []).map((row) =>
    row.split(",").map((item) => item.includes("?")),
  );
  const length = rows[0]?.filter(Boolean).length ?? 0;
  const areEqual = rows.every((row) => row.join() === rows[0]!.join());
  return (position) => (areEqual && position < rows.length * length ? position % length : position);
}

/** Fails with the error of the server if it refuses the probe at one of the positions. */
async function probe(
  connection: Connection,
  { values, write, render }: Statement,
  positions: readonly number[],
): Promise<void> {
  const replaced = new Set(positions);
  let placeholders = 0;
  const text = render(() => (replaced.has(placeholders++) ? PROBE : "?")).text;
  await prepare(connection, text).finally(() => connection.unprepare(text));
  if (!write) return;
  // The types of columns that are written are checked only here.
  const explain = `EXPLAIN ${text}`;
  const others = values.filter((_, index) => !replaced.has(index));
  await executeStatement(connection, explain, others).finally(() => connection.unprepare(explain));
}

/** @returns the error of the server, if it has one; any other error is the connection's, and thrown */
async function serverErrorOf(work: Promise<void>): Promise<{ errno?: number; message: string } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const failed = error as Error & { errno?: number; sqlState?: string };
    if (failed.sqlState === undefined) throw error;
    return failed;
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
