/** The driver of PostgreSQL: a small pool, one transaction per statement, a cursor that stops at the limit, cancel on abort. */
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { Client, type ClientConfig, type Connection, Pool, type PoolClient } from "pg";
import type { SqlResult } from "../../core/connections.ts";
import { isConnectionError, unknownOutcomeError } from "./connection-errors.ts";
import {
  abortError,
  type Driver,
  rejectOnAbort,
  assertUniqueColumnNames,
  type DatabaseServerOptions,
  type Statement,
} from "./driver.ts";
import { limitMessageSize } from "./message-size-limit.ts";
import { describeStatement, fetchRows, type PgField } from "./cursor-query.ts";
import { describePgTables } from "./postgres-describe.ts";
import { isPasswordRefusal, pgStepError } from "./postgres-errors.ts";
import { pgValueTexts, unfitPgValues } from "./postgres-parameters.ts";
import { createPgTypes, type PgCatalog } from "./postgres-types.ts";
import { isBuiltInPgType, pgColumn, pgToJson } from "./postgres-values.ts";
import { createRowCollector, createTextRows, mustRollBack, type RowLimits } from "./rows.ts";

/** Time limit of a statement whose cancel request was lost; steps time out long before. */
const BACKSTOP = "1h";
const SESSION = `SET statement_timeout = '${BACKSTOP}'; SET idle_in_transaction_session_timeout = '1min'`;
/** Ends a query whose client is gone; not supported on all platforms. */
const WATCH_CLIENT = "SET client_connection_check_interval = '5s'";
/**
 * The form of values, whatever the settings of the database and the role are. For one transaction, so that it also holds where a
 * pooler gives each transaction another session. The order of day and month in texts, and the currency of money (which has its own
 * number of decimals), are left as they are.
 */
const FORM = [
  "DateStyle = 'ISO'",
  "IntervalStyle = 'postgres'",
  "TimeZone = 'UTC'",
  "bytea_output = 'hex'",
  // The shortest text that is exactly the value; before PostgreSQL 12 the only exact one.
  "extra_float_digits = 3",
]
  .map((setting) => `; SET LOCAL ${setting}`)
  .join("");
const BEGIN_WRITE = `BEGIN${FORM}`;
/** The transaction is read-only before any function of the query runs, and cannot become writable afterwards. */
const BEGIN_READ = `BEGIN READ ONLY${FORM}`;
/** Also releases what a rollback keeps: session locks, and statements that a function prepared. */
const END_READ = "ROLLBACK; SELECT pg_advisory_unlock_all(); DEALLOCATE ALL";

export function createPostgresDriver({
  url,
  user,
  password,
  connecting: withPassword,
  maxConnections,
  idleTimeoutMs,
  connectTimeoutMs,
}: DatabaseServerOptions): Driver {
  /** Each connection logs in with the password of its time. */
  class CurrentClient extends GuardedClient {
    constructor(config?: ConstructorParameters<typeof Client>[0]) {
      super({ ...(config as ClientConfig), connectionString: withLogin(url, user, password()) });
    }
  }
  const pool = new Pool({
    Client: CurrentClient,
    max: maxConnections,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "millrace",
  });
  // The pool drops an idle connection that breaks.
  pool.on("error", () => undefined);
  // Errors of a connection between queries arrive here; a running query gets them itself.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const ready = new WeakSet<PoolClient>();
  const types = createPgTypes(isBuiltInPgType);

  async function setUp(client: PoolClient): Promise<void> {
    if (ready.has(client)) return;
    await client.query(SESSION);
    await client.query(WATCH_CLIENT).catch((error: unknown) => {
      if ((error as { code?: string }).code === undefined) throw error;
    });
    ready.add(client);
  }

  /** Does `work` on a connection and returns it to the pool, or drops it if its state is unknown. */
  async function withClient<T>(signal: AbortSignal, work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (signal.aborted) throw abortError(signal);
    const connecting = withPassword({ isRefusal: isPasswordRefusal, signal }, () => pool.connect());
    const client = await rejectOnAbort(connecting, signal, () => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
    });
    try {
      const value = await rejectOnAbort(
        setUp(client).then(() => work(client)),
        signal,
        () => cancel(client),
      );
      client.release();
      return value;
    } catch (error) {
      // After an error of the server the connection can be reset; after any other error its state is unknown.
      const refused = !signal.aborted && (error as { severity?: string }).severity === "ERROR";
      const clean = refused && (await rejectOnAbort(reset(client), signal, nothing).then(yes, no));
      client.release(!clean);
      throw error;
    }
  }

  /** Ends the transaction and resets the session: locks, settings, prepared statements, temporary tables. */
  async function reset(client: PoolClient, end = "ROLLBACK"): Promise<void> {
    await client.query(end);
    await client.query("DISCARD ALL");
    ready.delete(client);
  }

  async function run(
    { text, values, write }: Statement,
    limits: RowLimits,
    client: PoolClient,
  ): Promise<SqlResult> {
    await client.query(write ? BEGIN_WRITE : BEGIN_READ);
    try {
      let collected = createRowCollector([], limits);
      let columns: PgField[] = [];
      let catalog: PgCatalog | undefined;
      /** Rows with a type that is not known yet. */
      const waiting = createTextRows(limits);
      const add = (row: (string | null)[], known: PgCatalog): boolean =>
        collected.add(row.map((value, index) => pgToJson(columns[index]!, value, known)));
      const texts = await pgValueTexts(client, types, text, values);
      const { fields, command } = await fetchRows(
        client,
        text,
        texts,
        (given) => {
          assertUniqueColumnNames(given.map(({ name }) => name));
          columns = given;
          catalog = types.known(given);
          collected = createRowCollector(
            given.map(({ name }) => name),
            limits,
          );
        },
        (row) => (catalog === undefined ? waiting.add(row) : add(row, catalog)),
      );
      const learned = catalog ?? (await types.learn(client, columns));
      waiting.rows.every((row) => add(row, learned));
      const truncated = collected.truncated || waiting.truncated;
      // The rollback of a read also resets its settings; after a write the session is reset.
      if (write) await reset(client, mustRollBack({ truncated }, limits) ? "ROLLBACK" : "COMMIT");
      else await client.query(END_READ);
      const { rows } = collected;
      const changed = fields.length === 0 ? Number(/(\d+)$/.exec(command ?? "")?.[1] ?? 0) : rows.length;
      return {
        rows,
        columns: fields.map((field) => pgColumn(field, learned)),
        row_count: changed,
        truncated,
      };
    } catch (error) {
      throw write && isConnectionError(error) ? unknownOutcomeError(error) : error;
    }
  }

  /** Sends a cancel request of the protocol, which needs no free connection slot. */
  function cancel(client: PoolClient): void {
    const { host, port, processID, secretKey } = client as unknown as {
      host: string;
      port: number;
      processID: number | null;
      secretKey: number;
    };
    if (processID === null) return;
    const message = Buffer.alloc(16);
    message.writeInt32BE(16, 0);
    message.writeInt32BE(80_877_102, 4);
    message.writeInt32BE(processID, 8);
    message.writeInt32BE(secretKey, 12);
    const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.setTimeout(connectTimeoutMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.end(message);
    socket.resume();
  }

  return {
    dialect: "postgresql",
    placeholder: (index) => `$${index + 1}`,
    query: (statement, limits, { signal }) =>
      translated(
        withClient(signal, (client) => run(statement, limits, client)),
        statement,
      ),
    prepare: (statement, { signal }) =>
      translated(
        withClient(signal, async (client) => {
          const { fields, parameterTypes } = await describeStatement(client, statement.text);
          assertUniqueColumnNames(fields.map(({ name }) => name));
          const unfit = await unfitPgValues(client, parameterTypes, statement.values);
          const catalog = await types.learn(client, fields);
          return { columns: fields.map((field) => pgColumn(field, catalog)), unfit };
        }),
        statement,
      ),
    describe: (options, { signal }) =>
      translated(
        withClient(signal, async (client) => {
          await client.query(BEGIN_READ);
          const described = await describePgTables(client, types, options);
          await client.query(END_READ);
          return described;
        }),
      ),
    close: () => pool.end(),
  };
}

const nothing = (): void => undefined;
const yes = (): boolean => true;
const no = (): boolean => false;

/** A client whose connection limits the size of messages from the first byte. */
class GuardedClient extends Client {
  constructor(config?: ConstructorParameters<typeof Client>[0]) {
    super(config);
    const { connection } = this as unknown as {
      connection: Connection & { attachListeners(to: Duplex): void };
    };
    const attach = connection.attachListeners.bind(connection);
    connection.attachListeners = (stream) => {
      // One byte for the type, then the length, which includes itself.
      limitMessageSize(stream, 5, (header) => header.readUInt32BE(1) - 4);
      attach(stream);
    };
  }
}

/** Converts errors of the server, with the position in the query as written. */
const translated = async <T>(work: Promise<T>, statement?: Statement): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw pgStepError(error, statement?.locate);
  }
};

/**
 * Sets the login and the password as URL parameters, which take precedence, and also work for a URL without a host (a
 * socket). Another login never gets a password of the URL.
 */
function withLogin(url: string, user: string | undefined, password: string | undefined): string {
  const whole = new URL(url);
  if (user !== undefined) {
    whole.searchParams.set("user", user);
    whole.searchParams.delete("password");
    whole.username = "";
    whole.password = "";
  }
  if (password !== undefined) whole.searchParams.set("password", password);
  return whole.href;
}
