/** The values of parameters of PostgreSQL, which the server reads by the types that it gives the parameters. */
import type { PoolClient } from "pg";
import { types as pgTypes } from "pg";
import { describeStatement } from "./cursor-query.ts";
import type { SqlValue } from "./driver.ts";
import { readMoment, utcText } from "./moments.ts";
import type { PgTypes } from "./postgres-types.ts";
import { basePgType } from "./postgres-values.ts";

/** Formats a value as the server does; the server determines the type of the parameter. */
const pgValueText = (value: SqlValue): string | null => (value === null ? null : String(value));

/** Types without a zone, for which the server would leave out the offset of a moment. */
const WITHOUT_ZONE: ReadonlySet<number> = new Set([
  pgTypes.builtins.TIMESTAMP,
  pgTypes.builtins.DATE,
  pgTypes.builtins.TIME,
]);

/**
 * Formats the values of a statement's parameters. A moment with an offset becomes one in UTC, which is the zone of the session,
 * where the type of its parameter has no zone.
 */
export async function pgValueTexts(
  client: PoolClient,
  types: Pick<PgTypes, "learn">,
  text: string,
  values: readonly SqlValue[],
): Promise<(string | null)[]> {
  const moments = values.map(readMoment);
  if (!moments.some((moment) => moment?.isShifted === true)) return values.map(pgValueText);
  const { parameterTypes } = await describeStatement(client, text);
  const shifted = parameterTypes.filter((_, position) => moments[position]?.isShifted === true);
  const catalog = await types.learn(
    client,
    shifted.map((dataTypeID) => ({ dataTypeID })),
  );
  return values.map((value, position) => {
    const moment = moments[position];
    const isRead =
      moment?.isShifted !== true || !WITHOUT_ZONE.has(basePgType(parameterTypes[position]!, catalog));
    return isRead ? pgValueText(value) : utcText(moment);
  });
}

/**
 * Finds the known values that the types of their parameters do not accept.
 * @param types the ids of the parameters' types
 * @param values in the order of the parameters; null where it is not known
 */
export async function unfitPgValues(
  client: PoolClient,
  types: readonly number[],
  values: readonly SqlValue[],
): Promise<{ position: number; message: string }[]> {
  const unfit: { position: number; message: string }[] = [];
  for (const [position, value] of values.entries()) {
    const type = types[position];
    if (value === null || type === undefined) continue;
    const { rows } = await client.query<{ name: string }>("SELECT format_type($1, NULL) AS name", [type]);
    try {
      await client.query(`SELECT CAST($1 AS ${rows[0]!.name})`, [pgValueText(value)]);
    } catch (error) {
      const { code = "", message } = error as Error & { code?: string };
      // Class 22 is the data that is wrong. (postgresql.org/docs/current/errcodes-appendix.html)
      if (!code.startsWith("22")) throw error;
      unfit.push({ position, message });
    }
  }
  return unfit;
}
