import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { preparedWrite } from "../../src/store/prepared.ts";
import { INCARNATION } from "../../src/store/postgres/incarnation.ts";
import { transactionOutcome } from "../../src/store/postgres/transaction-outcome.ts";
import { translatePostgresError } from "../../src/store/postgres/errors.ts";
import type { PostgresOptions } from "../../src/store/postgres/store.ts";
import { untilPassing } from "../support/eventually.ts";
import { postgresProxy, type Action } from "../support/postgres-proxy.ts";
import { databaseAt, postgresStores } from "../support/postgres-stores.ts";

const { open, createDatabase } = postgresStores();

/** A store behind a proxy, and one beside it. */
async function setup(options: Partial<PostgresOptions> = {}) {
  const direct = await createDatabase();
  const proxy = await postgresProxy(Number(new URL(direct).port));
  const url = Object.assign(new URL(direct), { port: String(proxy.port) }).href;
  const store = await open(url, { ...options, database: { ...databaseAt(url), maxConnections: 4 } });
  const beside = await open(direct);
  let runs = 0;
  return {
    proxy,
    store,
    runs: () => runs,
    /** A transaction that writes a row. @returns the number of times that it has run */
    write: (name: string) =>
      store.transaction(async (trx) => {
        runs += 1;
        await trx.insertInto("settings").values({ name, value: "1" }).execute();
        return runs;
      }),
    async names(): Promise<string[]> {
      const rows = await beside.read
        .selectFrom("settings")
        .select("name")
        .where("name", "like", "test %")
        .orderBy("name")
        .execute();
      return rows.map(({ name }) => name);
    },
    /** Does something to the first statement that begins with this text. */
    disturb: (action: Action, text: string) =>
      proxy.disturb(action, (statement) => statement.sql.startsWith(text)),
  };
}

describe("a transaction whose connection is lost", () => {
  it("has its result when it was committed and the answer is lost", async () => {
    const { disturb, write, names } = await setup();
    const disturbed = disturb("cutAnswer", "commit");
    expect(await write("test 1")).toBe(1);
    expect((await disturbed).sql).toBe("commit");
    expect(await names()).toEqual(["test 1"]);
  });

  it.each([
    ["at its beginning", "begin;"],
    ["at a statement", 'insert into "settings"'],
    ["at its commit, before the server has it", "commit"],
  ])("runs again %s, and is committed once", async (_, text) => {
    const { disturb, write, runs, names } = await setup();
    const disturbed = disturb("cut", text);
    await write("test 1");
    await disturbed;
    expect([runs() > 1, await names()]).toEqual([text !== "begin;", ["test 1"]]);
  });

  it("is looked up until the server has noticed its loss, and runs again then", async () => {
    const { proxy, disturb, write, runs, names } = await setup({ answerMs: 500 });
    let lookups = 0;
    const disturbed = disturb("blackHole", "commit");
    const written = write("test 1");
    await disturbed;
    proxy.onStatement(({ sql: text }) => {
      // It is in progress for the server, which has not seen its end.
      if (text.includes("pg_xact_status") && (lookups += 1) === 2) proxy.expireBlackHoles();
      return "pass";
    });
    await written;
    expect([lookups > 1, runs(), await names()]).toEqual([true, 2, ["test 1"]]);
  });

  it("is reported as unknown while the database can't be asked", async () => {
    const { proxy, store, write, names } = await setup({ outcomeMs: 300 });
    proxy.onStatement((statement) => {
      if (statement.sql === "commit") return "cutAnswer";
      return statement.sql.includes("pg_xact_status") ? "cut" : "pass";
    });
    await expect(write("test 1")).rejects.toMatchObject({
      code: "outcome_unknown",
      message: expect.stringContaining("Idempotency-Key") as string,
    });
    proxy.onStatement(() => "pass");
    expect(await names()).toEqual(["test 1"]);
    expect(await store.checkHealth()).toBeUndefined();
  });

  it("does not believe a number of an earlier life of the server", async () => {
    const { store } = await setup();
    const { id, incarnation } = await store.transaction(async (trx) => {
      const { rows } = await sql<{ id: string; incarnation: string }>`
        select pg_current_xact_id()::text as id, incarnation from (${sql.raw(INCARNATION)}) as life`.execute(
        trx,
      );
      return rows[0]!;
    });
    const readOutcome = transactionOutcome(store.read, 1_000);
    expect(await readOutcome(id, incarnation)).toBe("committed");
    expect(await readOutcome(id, `${incarnation} 1`)).toBe("unknown");
    expect(await readOutcome(id, undefined)).toBe("unknown");
    // Its number is in the future of a standby that took over.
    expect(await readOutcome(String(Number(id) + 1_000_000), incarnation)).toBe("aborted");
  });

  it("commits writes that all came with its beginning once, when the answer is lost", async () => {
    const { disturb, store, names } = await setup();
    const insert = preparedWrite((db, name: string, value: string) =>
      db.insertInto("settings").values({ name, value }),
    );
    const disturbed = disturb("cutAnswer", "commit");
    await store.transaction((trx) => insert(trx, "test 1", "1"), "rows");
    await disturbed;
    expect(await names()).toEqual(["test 1"]);
  });

  it("has nothing to commit without a statement", async () => {
    const { proxy, store } = await setup();
    const before = proxy.statementCount();
    expect(await store.transaction(async () => 1, "rows")).toBe(1);
    await expect(store.transaction(() => Promise.reject(new Error("no")), "rows")).rejects.toThrow("no");
    expect(proxy.statementCount() - before).toBeLessThan(3);
  });

  it("keeps its own error when its work has failed", async () => {
    const { write, names } = await setup();
    await write("test 1");
    await expect(write("test 1")).rejects.toThrow(/duplicate key/);
    expect(await names()).toEqual(["test 1"]);
  });
});

describe("connections that all fall silent", () => {
  it("are given up together, once the one that is kept for that does not answer", async () => {
    const { proxy, store, write, names } = await setup({ answerMs: 500 });
    const statements = Array.from({ length: 4 }, () => sql`select 1`.execute(store.read));
    await Promise.all([...statements, write("test 1")]);
    const before = proxy.connectionCount();
    proxy.vanish();
    expect(await store.checkHealth()).toBeUndefined();
    await Promise.all([write("test 2"), write("test 3")]);
    await untilPassing(async () => expect(await names()).toEqual(["test 1", "test 2", "test 3"]));
    expect(proxy.connectionCount()).toBeGreaterThan(before);
  });
});

describe("messages of the driver, which have no code", () => {
  it.each([
    ["Connection terminated unexpectedly", "storage_unavailable"],
    ["Connection terminated due to connection timeout", "storage_unavailable"],
    ["timeout expired", "storage_unavailable"],
    ["Query read timeout", "storage_unavailable"],
    ["Client has encountered a connection error and is not queryable", "storage_unavailable"],
    ["timeout exceeded when trying to connect", "busy"],
  ])("%s: %s", (message, code) => {
    expect(translatePostgresError(new Error(message))).toMatchObject({ code });
  });
});
