/** The values of parameters of DuckDB. (Child processes load this file.) */
import { BIGINT, type DuckDBConnection, type DuckDBPreparedStatement, DuckDBTypeId } from "@duckdb/node-api";
import type { SqlValue } from "./driver.ts";

export function bind(statement: DuckDBPreparedStatement, values: readonly SqlValue[]): void {
  values.forEach((value, index) => {
    const at = index + 1;
    if (value === null) statement.bindNull(at);
    else if (typeof value === "string") statement.bindVarchar(at, value);
    else if (typeof value === "boolean") statement.bindBoolean(at, value);
    else if (Number.isSafeInteger(value)) statement.bindValue(at, BigInt(value), BIGINT);
    else statement.bindDouble(at, value);
  });
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
  const type = statement.parameterType(position + 1);
  if (typeof value !== "string" || UNKNOWN.has(type.typeId)) return undefined;
  return errorOf(connection, `SELECT CAST($1 AS ${type.toString()})`, [value]);
}

const UNKNOWN: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.INVALID,
  DuckDBTypeId.ANY,
  DuckDBTypeId.SQLNULL,
]);

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
