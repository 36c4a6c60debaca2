/** MySQL and MariaDB: a small pool, one transaction a statement, rows streamed to the bound, KILL QUERY on abort. */
import { readFileSync } from "node:fs";
import mysql, { type Connection, type ConnectionOptions, type PoolConnection } from "mysql2";
import type { SqlAnswer, SqlColumn, TableDescription } from "../../core/connections.ts";
import { isConnectionError, unknownOutcome } from "./connection-errors.ts";
import { abortReason, type DescribeOptions, type Driver, orAborted, refuseRepeatedNames, type ServerOptions, type Statement } from "./driver.ts";
import { mysqlStepError } from "./mysql-errors.ts";
import { mysqlColumn, type MysqlField, plainMysql } from "./mysql-values.ts";
import { collectRows, type RowLimits } from "./rows.ts";

/** The end, in seconds, of a statement whose kill was lost; steps end by their own time long before. */
const BACKSTOP_S = 3_600;

export function mysqlDriver(options: ServerOptions): Driver {
  const login = loginOf(options);
  const pool = mysql.createPool({
    ...login,
    connectionLimit: options.connections,
    maxIdle: 0,
    idleTimeout: options.idleMs,
    // Settings, variables, temporary tables and locks of one statement are nothing to the next.
    resetOnRelease: true,
  });

  async function withConnection<T>(
    signal: AbortSignal,
    work: (connection: PoolConnection) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw abortReason(signal);
    const connecting = new Promise<PoolConnection>((resolve, reject) => {
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
    });
    const connection = await orAborted(connecting, signal, () => {
      void connecting.then((late) => late.release(), () => undefined);
    });
    // What is asked hears of a broken connection itself.
    const quiet = (): void => undefined;
    connection.on("error", quiet);
    try {
      const value = await orAborted(work(connection), signal, () => kill(connection.threadId));
      connection.removeListener("error", quiet);
      connection.release();
      return value;
    } catch (error) {
      // After a refusal of the server's it is as good as before; after anything else nobody knows.
      if (!signal.aborted && (error as { sqlState?: string }).sqlState && !isConnectionError(error)) {
        connection.removeListener("error", quiet);
        connection.release();
      } else connection.destroy();
      throw error;
    }
  }

  /** On a connection of its own: all of the pool's may be taken. */
  function kill(threadId: number): void {
    const connection = mysql.createConnection(login);
    connection.on("error", () => connection.destroy());
    connection.query(`KILL QUERY ${threadId}`, () => connection.destroy());
  }

  async function run(
    { text, values, write }: Statement,
    limits: RowLimits,
    connection: PoolConnection,
  ): Promise<SqlAnswer> {
    await limitTime(connection);
    await command(connection, write ? "START TRANSACTION" : "START TRANSACTION READ ONLY");
    try {
      const answer = await streamRows(connection, text, values, limits);
      // The server goes on sending where rows were left: nothing more can be asked on this connection.
      if (answer.truncated) {
        kill(connection.threadId);
        connection.destroy();
        if (write) throw new TypeError("a statement that writes left rows");
      } else await command(connection, write ? "COMMIT" : "ROLLBACK");
      return answer;
    } catch (error) {
      await command(connection, "ROLLBACK").catch(() => undefined);
      throw write && isConnectionError(error) ? unknownOutcome(error) : error;
    }
  }

  const translated = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw mysqlStepError(error);
    }
  };

  return {
    dialect: "mysql",
    placeholder: () => "?",
    query: (statement, limits, signal) =>
      translated(withConnection(signal, (connection) => run(statement, limits, connection))),
    prepare: ({ text }, signal) =>
      translated(withConnection(signal, (connection) => describeStatement(connection, text))),
    describe: (wanted, signal) =>
      translated(withConnection(signal, (connection) => describe(connection, wanted))),
    close: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}
