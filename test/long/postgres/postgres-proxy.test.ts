/** The proxy that the tests of lost connections rely on. */
import type { Socket } from "node:net";
import { Client } from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { untilPassing } from "../../support/eventually.ts";
import { newDatabase } from "../../support/postgres-databases.ts";
import { postgresProxy, type PostgresProxy, type Statement } from "../../support/postgres-proxy.ts";
import { PASSWORD } from "../../support/postgres.ts";

/** A proxy, connections through it to a new database, and one beside it. */
async function openProxy() {
  const { address } = await newDatabase();
  const target = Number(new URL(inject("postgresUrl")).port);
  const proxy = await postgresProxy(target);
  async function connect(port = proxy.port): Promise<Client> {
    const { database, user } = address;
    const client = new Client({ host: "127.0.0.1", port, user, password: PASSWORD, database });
    client.on("error", () => undefined);
    await client.connect();
    onTestFinished(() => void client.end().catch(() => undefined));
    return client;
  }
  const direct = await connect(target);
  await direct.query("create table notes (text text)");
  return {
    proxy,
    connect,
    notes: async () =>
      (await direct.query<{ text: string }>("select text from notes order by text")).rows.map(
        ({ text }) => text,
      ),
    /** The state of the server's other sessions. */
    sessions: async () =>
      (
        await direct.query<{ state: string }>(
          `select state from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
        )
      ).rows.map(({ state }) => state),
  };
}

function recordStatements(proxy: PostgresProxy): Statement[] {
  const found: Statement[] = [];
  proxy.onStatement((statement) => {
    found.push(statement);
    return "pass";
  });
  return found;
}

const isCommit = ({ sql }: Statement): boolean => sql === "commit";

/** Whether a promise is pending, when all that has arrived up to now was handled. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(pending)])) === pending;
}

describe("postgresProxy", () => {
  it("reports simple, extended and named statements, with their parameters and their transaction", async () => {
    const { proxy, connect } = await openProxy();
    const found = recordStatements(proxy);
    const client = await connect();
    const large = "ä".repeat(300_000);
    await client.query("begin");
    await client.query("insert into notes values ($1)", [large]);
    await client.query("commit");
    for (const value of ["a", null])
      await client.query({ name: "named", text: "select $1::text", values: [value] });
    expect(found.map(({ index, sql, parameters }) => [index, sql, parameters])).toEqual([
      [1, "begin", []],
      [2, "insert into notes values ($1)", [large]],
      [3, "commit", []],
      [4, "select $1::text", ["a"]],
      [5, "select $1::text", [null]],
    ]);
    expect(found.map(({ transaction }) => transaction.map(({ sql }) => sql))).toEqual([
      [],
      ["begin"],
      ["begin", "insert into notes values ($1)"],
      [],
      [],
    ]);
    expect(new Set(found.map(({ connection }) => connection.id)).size).toBe(1);
    expect([proxy.statementCount(), proxy.connectionCount()]).toEqual([5, 1]);
  });

  it("answers whether the server uses TLS, as before a connection with sslmode=prefer", async () => {
    const { proxy } = await openProxy();
    const { address } = await newDatabase();
    const client = new Client({
      host: "127.0.0.1",
      port: proxy.port,
      user: address.user,
      password: PASSWORD,
      database: address.database,
      ssl: { rejectUnauthorized: false },
    });
    await expect(client.connect()).rejects.toThrow("does not support SSL");
  });

  it("cuts a connection before the server sees a statement", async () => {
    const { proxy, connect, notes } = await openProxy();
    const client = await connect();
    const cut = proxy.disturb("cut", isCommit);
    await client.query("begin");
    await client.query("insert into notes values ($1)", ["a"]);
    await expect(client.query("commit")).rejects.toThrow(/ECONNRESET|terminated/);
    expect((await cut).transaction).toHaveLength(2);
    expect(await notes()).toEqual([]);
    expect(proxy.connections()).toEqual([]);
    await (await connect()).query("insert into notes values ('b')");
    expect(await notes()).toEqual(["b"]);
  });

  it("cuts an answer after the server has executed the statement", async () => {
    const { proxy, connect, notes } = await openProxy();
    const client = await connect();
    const cut = proxy.disturb("cutAnswer", isCommit);
    await client.query("begin");
    await client.query("insert into notes values ($1)", ["a"]);
    await expect(client.query("commit")).rejects.toThrow(/ECONNRESET|terminated/);
    await cut;
    expect(await notes()).toEqual(["a"]);
  });

  it("takes statements apart that come in one write, or byte by byte", async () => {
    const { proxy, connect, notes } = await openProxy();
    const { stream, answers } = await rawConnection(connect);
    const release = Promise.withResolvers<void>();
    const held = proxy.disturb({ holdAnswerUntil: release.promise }, ({ sql }) => sql.includes("'b'"));
    const [a, b, c] = ["a", "b", "c"].map(insertMessage) as [Buffer, Buffer, Buffer];
    stream.write(Buffer.concat([a, b.subarray(0, 7)]));
    for (const byte of b.subarray(7)) stream.write(Buffer.from([byte]));
    stream.write(c);
    await held;
    await untilPassing(async () => expect(await notes()).toEqual(["a", "b", "c"]));
    await untilPassing(() => expect(answers()).toBe(1));
    release.resolve();
    await untilPassing(() => expect(answers()).toBe(3));
  });

  it("forwards no statement that follows the one whose answer it cuts", async () => {
    const { proxy, connect, notes } = await openProxy();
    const { stream } = await rawConnection(connect);
    const cut = proxy.disturb("cutAnswer", ({ sql }) => sql.includes("'b'"));
    stream.write(Buffer.concat(["a", "b", "c"].map(insertMessage)));
    await cut;
    expect(await notes()).toEqual(["a", "b"]);
  });

  it("holds an answer, and later ones, until the test releases it", async () => {
    const { proxy, connect, notes } = await openProxy();
    const client = await connect();
    const release = Promise.withResolvers<void>();
    const held = proxy.disturb({ holdAnswerUntil: release.promise }, ({ sql }) => sql.startsWith("insert"));
    const inserted = client.query("insert into notes values ('a')");
    await held;
    await untilPassing(async () => expect(await notes()).toEqual(["a"]));
    const other = await connect();
    await other.query("insert into notes values ('b')");
    expect(await isPending(inserted)).toBe(true);
    release.resolve();
    expect((await inserted).rowCount).toBe(1);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  it("drops everything of a connection from a statement on, and closes nothing", async () => {
    const { proxy, connect, notes, sessions } = await openProxy();
    const [client, other] = [await connect(), await connect()];
    const lost = proxy.disturb("blackHole", isCommit);
    await client.query("begin");
    await client.query("insert into notes values ('a')");
    const committed = client.query("commit");
    await lost;
    await other.query("insert into notes values ('b')");
    expect(await isPending(committed)).toBe(true);
    // The end of the client does not reach the server either.
    (await rawConnection(async () => client)).stream.destroy();
    await expect(committed).rejects.toThrow("terminated");
    await other.query("insert into notes values ('c')");
    expect((await sessions()).toSorted()).toEqual(["idle", "idle in transaction"]);
    expect(await notes()).toEqual(["b", "c"]);
    proxy.expireBlackHoles();
    await untilPassing(async () => expect(await sessions()).toEqual(["idle"]));
  });

  it("lets all connections vanish or resets them, while new ones work", async () => {
    const { proxy, connect } = await openProxy();
    const clients = [await connect(), await connect()];
    proxy.vanish();
    const silent = clients.map((client) => client.query("select 1"));
    for (const client of silent) client.catch(() => undefined);
    const later = await connect();
    expect((await later.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    for (const query of silent) expect(await isPending(query)).toBe(true);
    expect(proxy.connections().map(({ id }) => id)).toEqual([3]);
    proxy.resetAll();
    await expect(later.query("select 1")).rejects.toThrow(/ECONNRESET|terminated|not queryable/);
    expect((await (await connect()).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

/** The socket of a client, to write messages that the client would not, and the number of statements that were answered. */
async function rawConnection(connect: () => Promise<Client>) {
  const { connection } = (await connect()) as unknown as {
    connection: { stream: Socket; on(event: "commandComplete", listener: () => void): void };
  };
  let count = 0;
  connection.on("commandComplete", () => (count += 1));
  return { stream: connection.stream, answers: () => count };
}

/** A Query message of the protocol. */
function insertMessage(text: string): Buffer {
  const sql = `insert into notes values ('${text}')`;
  const message = Buffer.alloc(1 + 4 + Buffer.byteLength(sql) + 1);
  message.write("Q");
  message.writeInt32BE(message.length - 1, 1);
  message.write(sql, 5);
  return message;
}
