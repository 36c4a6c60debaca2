/** The driver of MySQL and MariaDB: a small pool, one transaction per statement, streamed rows, KILL QUERY on abort. */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import mysql, { type Connection, type ConnectionOptions, type Pool, type PoolConnection } from "mysql2";
import type { SqlResult } from "../../core/connections.ts";
import { isConnectionError, unknownOutcomeError } from "./connection-errors.ts";
import {
  abortError,
  type Driver,
  rejectOnAbort,
  type DatabaseServerOptions,
  type Statement,
} from "./driver.ts";
import { limitMessageSize } from "./message-size-limit.ts";
import { describeMysqlTables } from "./mysql-describe.ts";
import { isPasswordRefusal, mysqlStepError } from "./mysql-errors.ts";
import { assertOffsetsRead, bindMysqlValues } from "./mysql-parameters.ts";
import { describeStatement, streamRows } from "./mysql-statements.ts";
import { mysqlColumn } from "./mysql-values.ts";
import { mustRollBack, type RowLimits } from "./rows.ts";

/** Time limit of a statement whose KILL was lost, in seconds; steps time out long before. */
const BACKSTOP_S = 3_600;

/** SQL modes that change how quotes are read; some of them are names for several modes. */
const OTHER_QUOTES = [
  "NO_BACKSLASH_ESCAPES",
  "ANSI_QUOTES",
  "ANSI",
  "DB2",
  "MAXDB",
  "MSSQL",
  "ORACLE",
  "POSTGRESQL",
];
/** Without it the server changes a value that does not fit its column, and only warns. */
const STRICT = "STRICT_TRANS_TABLES";
/** An expression for the server's modes without these. */
const OTHER_MODES = OTHER_QUOTES.reduce(
  (modes, name) => `REPLACE(${modes}, ',${name},', ',')`,
  "CONCAT(',', @@SESSION.sql_mode, ',')",
);

export function createMysqlDriver(options: DatabaseServerOptions): Driver {
  const pool = mysql.createPool({
    ...loginOf(options),
    connectionLimit: options.maxConnections,
    maxIdle: 0,
    idleTimeout: options.idleTimeoutMs,
    // Clears settings, variables, temporary tables and locks of the previous statement.
    resetOnRelease: true,
  });
  // The pool copies its configuration for each connection, which logs in with the password of its time.
  Object.defineProperty((pool as unknown as PoolInternals).config.connectionConfig, "password", {
    get: () => options.password(),
    enumerable: true,
  });
  // The length, and a sequence number that is not needed.
  pool.on("connection", (made) => limitMessageSize(socketOf(made), 4, (header) => header.readUIntLE(0, 3)));

  /** @param work gets a function that marks the connection as unusable */
  async function withConnection<T>(
    signal: AbortSignal,
    work: (connection: PoolConnection, spoil: () => void) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw abortError(signal);
    const connecting = options.connecting({ isRefusal: isPasswordRefusal, signal }, () =>
      getConnection(pool),
    );
    const connection = await rejectOnAbort(connecting, signal, () => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
    });
    let spoiled = false;
    // A running query gets the error of a broken connection itself.
    connection.on("error", quiet);
    try {
      return await rejectOnAbort(
        setUp(connection).then(() => work(connection, () => (spoiled = true))),
        signal,
        () => kill(connection.threadId),
      );
    } catch (error) {
      // After an error of the server the connection can be reused; after any other error its state is unknown.
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

  /** Uses a separate connection, because all connections of the pool may be in use. */
  function kill(threadId: number): void {
    const connection = mysql.createConnection(loginOf(options));
    connection.on("error", quiet);
    connection.query(`KILL QUERY ${threadId}`, () => drop(connection));
  }

  async function run(
    statement: Statement,
    limits: RowLimits,
    connection: PoolConnection,
    spoil: () => void,
  ): Promise<SqlResult> {
    const { text, write } = statement;
    await command(connection, write ? "START TRANSACTION" : "START TRANSACTION READ ONLY");
    try {
      const values = await bindMysqlValues(connection, statement);
      const { answer, ended } = await streamRows(connection, text, values, limits, write);
      if (ended) await assertOffsetsRead(connection, values);
      const keeps = write && !mustRollBack(answer, limits);
      if (ended) await command(connection, keeps ? "COMMIT" : "ROLLBACK");
      else {
        // The server keeps sending rows that are no longer needed.
        kill(connection.threadId);
        spoil();
      }
      return answer;
    } catch (error) {
      if (!isConnectionError(error)) await command(connection, "ROLLBACK").catch(spoil);
      throw write && isConnectionError(error) ? unknownOutcomeError(error) : error;
    }
  }

  return {
    dialect: "mysql",
    placeholder: () => "?",
    query: (statement, limits, { signal }) =>
      translated(withConnection(signal, (connection, spoil) => run(statement, limits, connection, spoil))),
    prepare: ({ text, values }, { signal }) =>
      translated(
        withConnection(signal, async (connection) => {
          const fields = await describeStatement(connection, text);
          return { columns: fields.map((field) => mysqlColumn(field, values.length > 0)) };
        }),
      ),
    describe: (wanted, { signal }) =>
      translated(withConnection(signal, (connection) => describeMysqlTables(connection, wanted))),
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

const getConnection = (pool: Pool): Promise<PoolConnection> =>
  new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  });

interface PoolInternals {
  config: { connectionConfig: object };
}

const quiet = (): void => undefined;

/** Closes a connection at once; the library would wait for a server that waits until its rows are read. */
function drop(connection: Connection): void {
  connection.destroy();
  socketOf(connection).destroy();
}

const socketOf = (connection: Connection): Socket => (connection as unknown as { stream: Socket }).stream;

/** Reads the options of the URL: `ssl-mode` (or sslmode) as in MySQL clients, `ssl-ca`, `socket`. */
function loginOf({
  url,
  user,
  password: currentPassword,
  connectTimeoutMs,
}: DatabaseServerOptions): ConnectionOptions {
  const password = currentPassword();
  const { hostname, port, username, pathname, searchParams } = new URL(url);
  const socket = searchParams.get("socket");
  const ssl = tlsOf(searchParams);
  return {
    ...(socket === null
      ? { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, ""), port: Number(port || 3_306) }
      : { socketPath: socket }),
    user: user ?? decodeURIComponent(username),
    ...(password !== undefined && { password }),
    ...(pathname.length > 1 && { database: decodeURIComponent(pathname.slice(1)) }),
    ...(ssl !== undefined && { ssl }),
    connectTimeout: connectTimeoutMs,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    jsonStrings: true,
    // No code generated from column names, because agents write the queries.
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

/** Runs a statement of the driver itself, without rows. */
const command = (connection: Connection, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.query(text, (error) => (error ? reject(error) : resolve()));
  });

/** Sets the session up before each statement, because returning a connection resets it. Times are in UTC. */
function setUp(connection: Connection): Promise<void> {
  const set = (limit: string): Promise<void> =>
    command(
      connection,
      `SET SESSION ${limit}, SESSION time_zone = '+00:00', SESSION sql_mode = TRIM(BOTH ',' FROM CONCAT('${STRICT}', ${OTHER_MODES}))`,
    );
  // MySQL and MariaDB have different variables for the limit, and refuse each other's.
  return set(`max_statement_time = ${BACKSTOP_S}`).catch((error: { errno?: number }) => {
    if (error.errno !== 1193) throw error as Error; // ER_UNKNOWN_SYSTEM_VARIABLE
    return set(`max_execution_time = ${BACKSTOP_S * 1_000}`);
  });
}
