/** Prepared statements of MySQL and MariaDB: streams rows up to a limit, or describes the columns only. */
import type { Connection } from "mysql2";
import type { SqlResult } from "../../core/connections.ts";
import { assertUniqueColumnNames } from "./driver.ts";
import { mysqlColumn, type MysqlField, mysqlToJson } from "./mysql-values.ts";
import { createRowCollector, type RowLimits } from "./rows.ts";

/**
 * Runs a prepared statement.
 * @param drain whether to read the remaining rows after the limit is reached, so that the statement ends
 */
export function streamRows(
  connection: Connection,
  text: string,
  values: unknown[],
  limits: RowLimits,
  drain: boolean,
): Promise<{ answer: SqlResult; ended: boolean }> {
  return new Promise((resolve, reject) => {
    const stream = connection.execute(text, values as never).stream({ highWaterMark: 50 });
    let fields: MysqlField[] = [];
    let changed = 0;
    let collected = createRowCollector([], limits);
    const finish = (ended: boolean): void => {
      const { rows, truncated } = collected;
      const row_count = fields.length === 0 ? changed : rows.length;
      resolve({
        answer: { rows, columns: fields.map((field) => mysqlColumn(field)), row_count, truncated },
        ended,
      });
    };
    // A broken connection is reported only to the connection.
    connection.once("error", reject);
    stream.once("close", () => connection.removeListener("error", reject));
    stream.on("error", reject);
    stream.on("fields", (received: MysqlField[] | undefined) => {
      fields = received ?? [];
      try {
        assertUniqueColumnNames(fields.map(({ name }) => name));
      } catch (error) {
        reject(error);
      }
      collected = createRowCollector(
        fields.map(({ name }) => name),
        limits,
      );
    });
    stream.on("data", (row: unknown[] | { affectedRows: number }) => {
      if (!Array.isArray(row)) changed = row.affectedRows;
      else if (!collected.truncated) {
        const wanted = collected.add(row.map((value, index) => mysqlToJson(fields[index]!, value)));
        if (!wanted && !drain) {
          stream.pause();
          finish(false);
        }
      }
    });
    stream.on("end", () => finish(true));
  });
}

/** Runs a statement, and reads its rows without a limit. */
export const executeStatement = (
  connection: Connection,
  text: string,
  values: readonly unknown[],
): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.execute(text, [...values] as never, (error) => (error ? reject(error) : resolve()));
  });

/** Describes the columns of a statement's result, without executing it. */
export async function describeStatement(connection: Connection, text: string): Promise<MysqlField[]> {
  const { columns } = await new Promise<{ columns: MysqlField[] }>((resolve, reject) => {
    connection.prepare(text, (error, prepared) =>
      error ? reject(error) : resolve(prepared as unknown as { columns: MysqlField[] }),
    );
  });
  connection.unprepare(text);
  assertUniqueColumnNames(columns.map(({ name }) => name));
  return columns;
}
