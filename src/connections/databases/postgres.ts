/** PostgreSQL: a small pool, one transaction a statement, a cursor that stops at the bound, a cancel on abort. */
import { connect } from "node:net";
import { Pool, type PoolClient } from "pg";
import type { SqlAnswer, TableDescription } from "../../core/connections.ts";
import { isConnectionError, unknownOutcome } from "./connection-errors.ts";
import {
  abortReason,
  type DescribeOptions,
  type Driver,
  orAborted,
  refuseRepeatedNames,
  type ServerOptions,
  type SqlValue,
  type Statement,
} from "./driver.ts";
import { describeStatement, fetchRows } from "./portal.ts";
import { pgStepError } from "./postgres-errors.ts";
import { pgColumn, plainPg } from "./postgres-values.ts";
import { collectRows, type RowLimits } from "./rows.ts";

/** The end of a statement whose cancel was lost; steps end by their own time long before. */
const BACKSTOP = "1h";
const SESSION = `SET statement_timeout = '${BACKSTOP}'; SET idle_in_transaction_session_timeout = '1min'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'`;
/** Ends a query whose client has died; only some platforms have it. */
const WATCH_CLIENT = "SET client_connection_check_interval = '5s'";
/** A query has a snapshot before any of its functions runs, and from then on nothing makes this a writing one. */
const BEGIN_READ = "BEGIN READ ONLY";

export function postgresDriver({ url, password, connections, idleMs, connectMs }: ServerOptions): Driver {
  const pool = new Pool({
    connectionString: withPassword(url, password),
    max: connections,
    idleTimeoutMillis: idleMs,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "millrace",
  });
  // An idle connection that breaks is dropped by the pool; nobody waits for it.
  pool.on("error", () => undefined);
  const ready = new WeakSet<PoolClient>();

  async function setUp(client: PoolClient): Promise<void> {
    if (ready.has(client)) return;
    // A connection that is cut while nothing is asked of it says so here; what is asked hears of it itself.
    client.on("error", () => undefined);
    await client.query(SESSION);
    await client.query(WATCH_CLIENT).catch((error: unknown) => {
      if ((error as { code?: string }).code === undefined) throw error;
    });
    ready.add(client);
  }

  /** Works on a connection that is given back afterwards, or dropped where it may not be clean. */
  async function withClient<T>(signal: AbortSignal, work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (signal.aborted) throw abortReason(signal);
    const connecting = pool.connect();
    const client = await orAborted(connecting, signal, () => {
      void connecting.then(
        (late) => late.release(),
        () => undefined,
      );
    });
    try {
      const value = await orAborted(
        setUp(client).then(() => work(client)),
        signal,
        () => cancel(client),
      );
      client.release();
      return value;
    } catch (error) {
      // After a refusal of the server's it is as good as before; after anything else nobody knows.
      client.release(signal.aborted || (error as { severity?: string }).severity !== "ERROR");
      throw error;
    }
  }

  async function run(
    { text, values, write }: Statement,
    limits: RowLimits,
    client: PoolClient,
  ): Promise<SqlAnswer> {
    await client.query(write ? "BEGIN" : BEGIN_READ);
    try {
      let collected = collectRows([], limits);
      let ids: number[] = [];
      const { fields, command } = await fetchRows(
        client,
        text,
        values.map(asText),
        (given) => {
          refuseRepeatedNames(given.map(({ name }) => name));
          ids = given.map(({ dataTypeID }) => dataTypeID);
          collected = collectRows(
            given.map(({ name }) => name),
            limits,
          );
        },
        (row) => collected.add(row.map((value, index) => plainPg(ids[index]!, value))),
      );
      // A write leaves no setting behind; a read is rolled back, and its settings with it.
      await client.query(write ? "COMMIT" : "ROLLBACK; SELECT pg_advisory_unlock_all()");
      if (write) {
        await client.query("DISCARD ALL");
        ready.delete(client);
      }
      const { rows, truncated } = collected;
      const changed = fields.length === 0 ? Number(/(\d+)$/.exec(command ?? "")?.[1] ?? 0) : rows.length;
      return { rows, columns: fields.map(pgColumn), row_count: changed, truncated };
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      throw write && isConnectionError(error) ? unknownOutcome(error) : error;
    }
  }

  /** By the protocol's cancel request, which needs no free connection slot. */
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
    socket.setTimeout(connectMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.end(message);
    socket.resume();
  }

  return {
    dialect: "postgresql",
    placeholder: (index) => `$${index + 1}`,
    query: (statement, limits, signal) =>
      translated(
        withClient(signal, (client) => run(statement, limits, client)),
        statement,
      ),
    prepare: (statement, signal) =>
      translated(
        withClient(signal, async (client) => {
          const fields = await describeStatement(client, statement.text);
          refuseRepeatedNames(fields.map(({ name }) => name));
          return fields.map(pgColumn);
        }),
        statement,
      ),
    describe: (options, signal) => translated(withClient(signal, (client) => describe(client, options))),
    close: () => pool.end(),
  };
}

/** The server's errors, with the place in what was written. */
const translated = async <T>(work: Promise<T>, statement?: Statement): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw pgStepError(error, statement?.place);
  }
};

/** As a parameter, which goes before the URL's own, and which a URL without a host (a socket) can have too. */
function withPassword(url: string, password: string | undefined): string {
  const whole = new URL(url);
  if (password !== undefined) whole.searchParams.set("password", password);
  return whole.href;
}

/** In the server's own spelling; it gives the parameter its type. */
const asText = (value: SqlValue): string | null => (value === null ? null : String(value));

const TABLES = `
  SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname ELSE n.nspname || '.' || c.relname END AS name,
         quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS quoted,
         CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END AS kind,
         CASE WHEN c.relkind IN ('v', 'f') OR c.reltuples < 0 THEN NULL ELSE c.reltuples::float8 END AS rows,
         (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                                            'nullable', NOT a.attnotnull) ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
     AND has_table_privilege(c.oid, 'SELECT')`;

async function describe(client: PoolClient, options: DescribeOptions): Promise<TableDescription[]> {
  await client.query(BEGIN_READ);
  const { rows } = await client.query<{
    name: string;
    quoted: string;
    kind: string;
    rows: number | null;
    columns: TableDescription["columns"] | null;
  }>(`SELECT * FROM (${TABLES}) AS t WHERE $1::text IS NULL OR name = $1 ORDER BY name LIMIT $2`, [
    options.table ?? null,
    options.limit,
  ]);
  const described: TableDescription[] = [];
  for (const row of rows) {
    const sample = options.samples > 0 ? await sampleOf(client, row.quoted, options.samples) : undefined;
    described.push({
      name: row.name,
      kind: row.kind,
      columns: row.columns ?? [],
      row_count: options.counts ? row.rows : null,
      ...(sample !== undefined && { sample }),
    });
  }
  await client.query("ROLLBACK");
  return described;
}

async function sampleOf(
  client: PoolClient,
  quoted: string,
  maxRows: number,
): Promise<Record<string, unknown>[]> {
  let collected = collectRows([], { maxRows, maxBytes: 64 * 1024 });
  let ids: number[] = [];
  await fetchRows(
    client,
    `SELECT * FROM ${quoted} LIMIT ${maxRows}`,
    [],
    (fields) => {
      ids = fields.map(({ dataTypeID }) => dataTypeID);
      const names = fields.map(({ name }) => name);
      collected = collectRows(names, { maxRows, maxBytes: 64 * 1024 });
    },
    (row) => collected.add(row.map((value, index) => plainPg(ids[index]!, value))),
  );
  return collected.rows;
}
