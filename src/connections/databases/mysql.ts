/** MySQL and MariaDB: a small pool, one transaction a statement, rows streamed to the bound, KILL QUERY on abort. */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import mysql, { type Connection, type ConnectionOptions, type PoolConnection } from "mysql2";
import type { SqlAnswer, SqlColumn, TableDescription } from "../../core/connections.ts";
import { isConnectionError, unknownOutcome } from "./connection-errors.ts";
import {
  abortReason,
  type DescribeOptions,
  type Driver,
  orAborted,
  refuseRepeatedNames,
  type ServerOptions,
  type Statement,
} from "./driver.ts";
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

  /** @param work gets a function to say that the connection is not to be used again */
  async function withConnection<T>(
    signal: AbortSignal,
    work: (connection: PoolConnection, spoil: () => void) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw abortReason(signal);
    const connecting = new Promise<PoolConnection>((resolve, reject) => {
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
    });
    const connection = await orAborted(connecting, signal, () => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
    });
    let spoiled = false;
    // What is asked hears of a broken connection itself.
    connection.on("error", quiet);
    try {
      return await orAborted(
        work(connection, () => (spoiled = true)),
        signal,
        () => kill(connection.threadId),
      );
    } catch (error) {
      // After a refusal of the server's it is as good as before; after anything else nobody knows.
      spoiled ||= signal.aborted || !(error as { sqlState?: string }).sqlState;
      throw error;
    } finally {
      if (spoiled) drop(connection);
      else {
        connection.removeListener("error", quiet);
        connection.release();
      }
    }
  }

  /** On a connection of its own: all of the pool's may be taken. */
  function kill(threadId: number): void {
    const connection = mysql.createConnection(login);
    connection.on("error", quiet);
    connection.query(`KILL QUERY ${threadId}`, () => drop(connection));
  }

  async function run(
    { text, values, write }: Statement,
    limits: RowLimits,
    connection: PoolConnection,
    spoil: () => void,
  ): Promise<SqlAnswer> {
    await limitTime(connection);
    await command(connection, write ? "START TRANSACTION" : "START TRANSACTION READ ONLY");
    try {
      const { answer, ended } = await streamRows(connection, text, values, limits, write);
      if (ended) await command(connection, write ? "COMMIT" : "ROLLBACK");
      else {
        // The server goes on sending what nobody wants.
        kill(connection.threadId);
        spoil();
      }
      return answer;
    } catch (error) {
      if (!isConnectionError(error)) await command(connection, "ROLLBACK").catch(spoil);
      throw write && isConnectionError(error) ? unknownOutcome(error) : error;
    }
  }

  return {
    dialect: "mysql",
    placeholder: () => "?",
    query: (statement, limits, signal) =>
      translated(withConnection(signal, (connection, spoil) => run(statement, limits, connection, spoil))),
    prepare: ({ text }, signal) =>
      translated(withConnection(signal, (connection) => describeStatement(connection, text))),
    describe: (wanted, signal) =>
      translated(withConnection(signal, (connection) => describe(connection, wanted))),
    close: () => new Promise((resolve) => pool.end(() => resolve())),
  };
}

const translated = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw mysqlStepError(error);
  }
};

const quiet = (): void => undefined;

/** Ends it at once; the library would wait for a server that waits for us to read its rows. */
function drop(connection: Connection): void {
  connection.destroy();
  (connection as unknown as { stream: Socket }).stream.destroy();
}

/** What the URL says: `ssl-mode` (or sslmode) as the MySQL clients spell it, `ssl-ca`, `socket`. */
function loginOf({ url, password, connectMs }: ServerOptions): ConnectionOptions {
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const socket = searchParams.get("socket");
  const ssl = tlsOf(searchParams);
  return {
    ...(socket === null
      ? { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ""), port: Number(port || 3_306) }
      : { socketPath: socket }),
    user: decodeURIComponent(username),
    ...(password !== undefined && { password }),
    ...(pathname.length > 1 && { database: decodeURIComponent(pathname.slice(1)) }),
    ...(ssl !== undefined && { ssl }),
    connectTimeout: connectMs,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    // Code made out of the names of columns is nothing for queries written by agents.
    disableEval: true,
    maxPreparedStatements: 20,
    multipleStatements: false,
    flags: ["-LOCAL_FILES"],
  };
}

function tlsOf(params: URLSearchParams): ConnectionOptions["ssl"] {
  const mode = (params.get("ssl-mode") ?? params.get("sslmode") ?? "disabled")
    .toLowerCase()
    .replaceAll("-", "_");
  const file = params.get("ssl-ca");
  const ca = file === null ? {} : { ca: readFileSync(file, "utf8") };
  if (mode === "disabled" || mode === "disable") return undefined;
  if (mode === "verify_identity" || mode === "verify_full") return { ...ca, verifyIdentity: true };
  if (mode === "verify_ca") return { ...ca, verifyIdentity: false };
  return { ...ca, rejectUnauthorized: false };
}

/** A statement of ours, without rows. */
const command = (connection: Connection, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.query(text, (error) => (error ? reject(error) : resolve()));
  });

/** Each of the two has its own word for it, and refuses the other's. */
const limitTime = (connection: Connection): Promise<void> =>
  command(connection, `SET SESSION max_statement_time = ${BACKSTOP_S}`).catch((error: { errno?: number }) => {
    if (error.errno !== 1193) throw error as Error; // ER_UNKNOWN_SYSTEM_VARIABLE
    return command(connection, `SET SESSION max_execution_time = ${BACKSTOP_S * 1_000}`);
  });

/**
 * Runs a prepared statement.
 * @param drain whether all rows are read even where no more are wanted, so that the statement ends
 */
function streamRows(
  connection: Connection,
  text: string,
  values: unknown[],
  limits: RowLimits,
  drain: boolean,
): Promise<{ answer: SqlAnswer; ended: boolean }> {
  return new Promise((resolve, reject) => {
    const stream = connection.execute(text, values as never).stream({ highWaterMark: 50 });
    let fields: MysqlField[] = [];
    let changed = 0;
    let collected = collectRows([], limits);
    const finish = (ended: boolean): void => {
      const { rows, truncated } = collected;
      const row_count = fields.length === 0 ? changed : rows.length;
      resolve({ answer: { rows, columns: fields.map(mysqlColumn), row_count, truncated }, ended });
    };
    // A broken connection is told to the connection alone.
    connection.once("error", reject);
    stream.once("close", () => connection.removeListener("error", reject));
    stream.on("error", reject);
    stream.on("fields", (given: MysqlField[] | undefined) => {
      fields = given ?? [];
      try {
        refuseRepeatedNames(fields.map(({ name }) => name));
      } catch (error) {
        reject(error);
      }
      collected = collectRows(
        fields.map(({ name }) => name),
        limits,
      );
    });
    stream.on("data", (row: unknown[] | { affectedRows: number }) => {
      if (!Array.isArray(row)) changed = row.affectedRows;
      else if (!collected.truncated) {
        const wanted = collected.add(row.map((value, index) => plainMysql(fields[index]!, value)));
        if (!wanted && !drain) {
          stream.pause();
          finish(false);
        }
      }
    });
    stream.on("end", () => finish(true));
  });
}

async function describeStatement(connection: Connection, text: string): Promise<SqlColumn[]> {
  const statement = await new Promise<{ columns: MysqlField[]; close(): void }>((resolve, reject) => {
    connection.prepare(text, (error, given) =>
      error ? reject(error) : resolve(given as unknown as { columns: MysqlField[]; close(): void }),
    );
  });
  connection.unprepare(text);
  refuseRepeatedNames(statement.columns.map(({ name }) => name));
  return statement.columns.map(mysqlColumn);
}

async function describe(
  connection: PoolConnection,
  { table, samples, limit, counts }: DescribeOptions,
): Promise<TableDescription[]> {
  const rowsOf = async (text: string, values: unknown[], limits: RowLimits) =>
    (await streamRows(connection, text, values, limits, true)).answer.rows;
  const all = { maxRows: 20_000, maxBytes: Infinity };
  const tables = await rowsOf(
    `SELECT table_name AS name, IF(table_type LIKE '%VIEW', 'view', 'table') AS kind, table_rows AS count
       FROM information_schema.tables WHERE table_schema = DATABASE() AND (? IS NULL OR table_name = ?)
      ORDER BY table_name LIMIT ${limit}`,
    [table ?? null, table ?? null],
    all,
  );
  const columns = await rowsOf(
    `SELECT table_name AS owner, column_name AS name, column_type AS type, is_nullable = 'YES' AS nullable
       FROM information_schema.columns WHERE table_schema = DATABASE() AND (? IS NULL OR table_name = ?)
      ORDER BY table_name, ordinal_position`,
    [table ?? null, table ?? null],
    all,
  );
  const described: TableDescription[] = [];
  for (const row of tables as { name: string; kind: string; count: number | null }[]) {
    const from = `\`${row.name.replaceAll("`", "``")}\``;
    const some = { maxRows: samples, maxBytes: 64 * 1024 };
    described.push({
      name: row.name,
      kind: row.kind,
      columns: columns
        .filter(({ owner }) => owner === row.name)
        .map(({ name, type, nullable }) => ({
          name: String(name),
          type: String(type),
          nullable: nullable === 1,
        })),
      row_count: counts ? row.count : null,
      ...(samples > 0 && { sample: await rowsOf(`SELECT * FROM ${from} LIMIT ${samples}`, [], some) }),
    });
  }
  return described;
}
