import { CompiledQuery, sql } from "kysely";
import { describe, expect, it, vi } from "vitest";
import { foldText } from "../../schemas/fold-text.ts";
import { auditReader } from "../../src/store/audit.ts";
import type { WorkflowFilter } from "../../src/core/ports.ts";
import { iso } from "../../src/core/clock.ts";
import type { ClaimOptions } from "../../src/core/job-ports.ts";
import { claimJobs } from "../../src/store/claim-jobs.ts";
import { engineReaders, engineTransaction } from "../../src/store/engine-transaction.ts";
import { type Migration, MIGRATIONS } from "../../src/store/migrate.ts";
import { preparedWrite } from "../../src/store/prepared.ts";
import type { Store } from "../../src/store/store.ts";
import { unitOfWork } from "../../src/store/unit-of-work.ts";
import { verifyAuditLog } from "../../src/store/verify-audit-chain.ts";
import { workflowReader } from "../../src/store/workflows.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { untilPassing } from "../support/eventually.ts";
import { fakeClock } from "../support/instance.ts";
import { insertWorkflows } from "../support/many-workflows.ts";
import { databaseAt, postgresStores } from "../support/postgres-stores.ts";
import { postgresSchema, sqliteSchema } from "../support/schemas.ts";
import { insertWorkflow, testActor, testStore } from "../support/store.ts";

const { open, createDatabase, execute, disconnect } = postgresStores();

const NEXT: Migration = {
  id: 9_999,
  name: "notes",
  requires: 1,
  async up(db) {
    await db.schema.createTable("notes").addColumn("text", "text").execute();
  },
};

describe("a claim in PostgreSQL", () => {
  it("takes no job that another executor has claimed and released since it was read", async () => {
    const url = await createDatabase();
    const [first, second] = [await open(url), await open(url)];
    const clock = fakeClock();
    const others = engineTransaction(second, clock);
    const options: ClaimOptions = {
      now: iso(clock.now()),
      limit: 5,
      limits: new Map(),
      quarantined: "isolate",
    };
    const job = {
      runId: "run_1",
      stepId: "a",
      item: null,
      kind: "step",
      priority: 0,
      resource: null,
    } as const;
    const attempt = { dueAt: null, attempt: 1, retryCount: 1 };
    await others((tx) => tx.jobs.add({ ...job, ...attempt }));
    const claimAndRelease = (): Promise<boolean> =>
      others(async (tx) => {
        const [claimed] = await tx.jobs.claim("exe_2", options);
        return tx.jobs.release(claimed!, "exe_2", attempt);
      });
    let released = false;
    const claimed = await first.transaction((trx) => {
      const executeQuery = trx.executeQuery.bind(trx);
      vi.spyOn(trx, "executeQuery").mockImplementation(async (query, ...more) => {
        const { sql: text, parameters } = query as CompiledQuery;
        const isClaim = text.startsWith('update "jobs"') && parameters.includes("exe_1");
        if (isClaim) released = await claimAndRelease();
        return executeQuery(query, ...more);
      });
      return claimJobs(trx, clock, "exe_1", options);
    }, "rows");
    expect({ released, claimed }).toEqual({ released: true, claimed: [] });
    const [again] = await others((tx) => tx.jobs.claim("exe_3", options));
    expect(again).toMatchObject({ stepId: "a", fence: 2 });
  });
});

describe("locks that several transactions share", () => {
  it("lets starts and ends of runs without a limit go on beside each other", async () => {
    const store = await open(await createDatabase());
    const transaction = engineTransaction(store, fakeClock());
    const both = Promise.withResolvers<void>();
    let holders = 0;
    await Promise.all(
      [1, 2].map(() =>
        transaction(async (tx) => {
          await tx.runs.lockQueue("a-workflow", "shared");
          // The lock is sent with the next statement that has a result.
          await tx.runs.countAllUnfinished();
          holders += 1;
          if (holders === 2) both.resolve();
          await both.promise;
        }),
      ),
    );
    expect(holders).toBe(2);
  });
});

/** The counters that a test has inserted. */
const testCounters = async ({ read }: Pick<Store, "read">) =>
  (await read.selectFrom("counters").select("name").where("name", "like", "test %").execute()).map(
    ({ name }) => name,
  );

describe("a write whose result nobody needs", () => {
  const insertCounter = preparedWrite((db, name: string, value: number) =>
    db.insertInto("counters").values({ name, value }),
  );

  it("is seen by the next statement, and committed in the order of the writes", async () => {
    const store = await open(await createDatabase());
    const seen = await store.transaction(async (trx) => {
      for (const name of ["test 1", "test 2", "test 3"]) await insertCounter(trx, name, 1);
      const row = trx.selectFrom("counters").selectAll().where("name", "=", "test 3");
      return row.executeTakeFirst();
    });
    expect(seen).toEqual({ name: "test 3", value: 1 });
    await store.transaction(async (trx) => {
      await insertCounter(trx, "test 4", 1);
    });
    expect(await testCounters(store)).toEqual(["test 1", "test 2", "test 3", "test 4"]);
  });

  it("fails the commit with its own error, whatever follows, and nothing is committed", async () => {
    const store = await open(await createDatabase());
    const failing = store.transaction(async (trx) => {
      await insertCounter(trx, "test 1", 1);
      // The column accepts no null: 23502, not_null_violation.
      await insertCounter(trx, null as unknown as string, 1);
      await insertCounter(trx, "test 2", 1);
    });
    await expect(failing).rejects.toMatchObject({ code: "23502" });
    expect(await testCounters(store)).toEqual([]);
  });

  it("fails the next statement with its own error, and the connection is used again", async () => {
    const url = await createDatabase();
    const store = await open(url, { database: { ...databaseAt(url), maxConnections: 2 } });
    const failing = store.transaction(async (trx) => {
      await insertCounter(trx, null as unknown as string, 1);
      await trx.selectFrom("counters").selectAll().execute();
    });
    await expect(failing).rejects.toMatchObject({ code: "23502" });
    await store.transaction(async (trx) => {
      await insertCounter(trx, "test 1", 1);
    });
    expect(await testCounters(store)).toEqual(["test 1"]);
  });

  it("is not sent when the work of its transaction throws", async () => {
    const url = await createDatabase();
    const store = await open(url, { database: { ...databaseAt(url), maxConnections: 2 } });
    const fail = () =>
      store.transaction(async (trx) => {
        // It would fail, and a connection whose rollback fails is closed.
        await insertCounter(trx, null as unknown as string, 1);
        throw new Error("no");
      });
    const connectionOf = () =>
      store.transaction(async (trx) => (await sql`select pg_backend_pid() as id`.execute(trx)).rows);
    const before = await connectionOf();
    await expect(fail()).rejects.toThrow("no");
    expect(await connectionOf()).toEqual(before);
    expect(await testCounters(store)).toEqual([]);
  });

  it("fails the commit when somebody caught its error and went on", async () => {
    const store = await open(await createDatabase());
    const failing = store.transaction(async (trx) => {
      await insertCounter(trx, "test 1", 1);
      await insertCounter(trx, null as unknown as string, 1);
      await trx
        .selectFrom("counters")
        .selectAll()
        .execute()
        .catch(() => {});
    });
    await expect(failing).rejects.toThrow("was not committed");
    expect(await testCounters(store)).toEqual([]);
  });

  it("commits nothing when the driver can't write its value", async () => {
    const store = await open(await createDatabase());
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const failing = store.transaction(async (trx) => {
      await insertCounter(trx, "test 1", 1);
      await insertCounter(trx, circular as unknown as string, 1);
    });
    await expect(failing).rejects.toThrow("circular");
    expect(await testCounters(store)).toEqual([]);
  });

  it("is kept back with up to 100 others, and with more sent in between", async () => {
    const store = await open(await createDatabase());
    await store.transaction(async (trx) => {
      for (let n = 0; n < 250; n += 1) await insertCounter(trx, `test ${String(n).padStart(3, "0")}`, n);
    });
    expect(await testCounters(store)).toHaveLength(250);
  });

  it("is refused after the end of its transaction, so that it runs in no other one", async () => {
    const store = await open(await createDatabase());
    const ended = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    await store.transaction(async (trx) => {
      const writeLate = async (): Promise<void> => {
        await ended.promise;
        await insertCounter(trx, "test late", 1);
      };
      late = writeLate();
    });
    ended.resolve();
    await expect(late).rejects.toThrow("Transaction is already committed");
    expect(await testCounters(store)).toEqual([]);
  });
});

describe("statements with a name", () => {
  it("are planned again after a migration has changed their columns", async () => {
    const store = await open(await createDatabase());
    const unsubscribe = store.changes.subscribe(() => {});
    const named = async (): Promise<number> => {
      const { rows } = await sql<{ count: string }>`
        select count(*) as count from pg_prepared_statements where statement like '%counters%'`.execute(
        store.read,
      );
      return Number(rows[0]!.count);
    };
    const readCounters = () =>
      store.read.selectFrom("counters").selectAll().where("name", "=", "audit_purged_id").execute();
    const inTransaction = () =>
      store.transaction((trx) =>
        trx.selectFrom("counters").selectAll().where("name", "=", "audit_purged_id").execute(),
      );
    await untilPassing(async () => {
      for (let run = 0; run < 10; run += 1) await Promise.all([readCounters(), inTransaction()]);
      expect(await named()).toBeGreaterThan(0);
    });
    await store.transaction(async (trx) => {
      await sql`alter table counters add column note text`.execute(trx);
    });
    for (let run = 0; run < 20; run += 1)
      await Promise.all([readCounters(), readCounters(), inTransaction(), inTransaction()]);
    unsubscribe();
  });
});

describe("the schema in PostgreSQL", () => {
  it("has the tables, columns and indexes of SQLite", async () => {
    const { read } = await open(await createDatabase());
    const { store } = await testStore();
    expect(await postgresSchema(read)).toEqual(await sqliteSchema(store.read));
  });

  it("begins with the rows of SQLite", async () => {
    const { read } = await open(await createDatabase());
    const { store } = await testStore();
    const rows = async (db: typeof read) => ({
      counters: await db.selectFrom("counters").selectAll().orderBy("name").execute(),
      projects: await db
        .selectFrom("projects")
        .select(["id", "name", "description", "connections", "review", "created_by"])
        .select(sql<number>`length(created_at)`.as("length"))
        .execute(),
      settings: await db.selectFrom("settings").selectAll().orderBy("name").execute(),
    });
    expect(await rows(read)).toEqual(await rows(store.read));
  });

  it("sorts all text by its bytes, also that of later migrations", async () => {
    const { upgrade, read } = await open(await createDatabase(), { migrations: [...MIGRATIONS, NEXT] });
    expect(upgrade).toEqual({ from: MIGRATIONS.at(-1)!.id, to: NEXT.id });
    const { rows } = await sql<{ table: string; collation: string }>`
      select table_name as "table", coalesce(collation_name, 'that of the database') as collation
      from information_schema.columns where table_schema = current_schema() and data_type = 'text'`.execute(
      read,
    );
    expect(rows.map(({ table }) => table)).toContain("notes");
    expect(rows.filter(({ collation }) => collation !== "C")).toEqual([]);
  });

  it("is created once when several processes open an empty database at the same time", async () => {
    const url = await createDatabase({ template: "template0" });
    const stores = await Promise.all([open(url), open(url), open(url)]);
    expect(stores.map(({ upgrade }) => upgrade)).toEqual([undefined, undefined, undefined]);
    const rows = await stores[0].read.selectFrom("migrations").select("id").orderBy("id").execute();
    expect(rows.map(({ id }) => id)).toEqual(MIGRATIONS.map(({ id }) => id));
  });

  it("is not created among the tables of another program, nor used after a newer release has changed it", async () => {
    const other = await createDatabase({ template: "template0" });
    await execute(other, "create table orders (id int)");
    await expect(open(other)).rejects.toThrow(/tables of another program/);
    await execute(other, "drop table orders");
    const newer = await open(other, { migrations: [...MIGRATIONS, { ...NEXT, requires: NEXT.id }] });
    expect(await newer.checkHealth()).toBeUndefined();
    await expect(open(other)).rejects.toThrow(/The database was written by a newer release/);
  });
});

/** Searches for workflows. @returns their ids and their number, and the plan of the query of the index; undefined without one */
async function search({ read }: Pick<Store, "read">, words: string) {
  const statements = vi.spyOn(read.getExecutor(), "executeQuery");
  const workflows = workflowReader(read);
  const filter = { search: words };
  const { items } = await workflows.page({
    filter,
    sort: "name",
    after: null,
    limit: 50,
    withDefinition: false,
  });
  const query = statements.mock.calls.find(([{ sql: text }]) => text.includes("text_parts"))?.[0];
  statements.mockRestore();
  const explained =
    query &&
    (await read.executeQuery<{ "QUERY PLAN": string }>(
      CompiledQuery.raw(`explain ${query.sql}`, [...query.parameters]),
    ));
  return {
    ids: items.map(({ id }) => id).toSorted(),
    count: await workflows.count(filter),
    plan: explained?.rows.map((row) => row["QUERY PLAN"]).join("\n"),
  };
}

/** Texts and words of searches with what an index may treat in its own way. */
const TEXTS = [
  "100% of orders",
  "snake_case_name",
  "back\\slash",
  'double "quotes"',
  "it's {curly, braces}",
  "null",
  "Ärger & ÉTÉ",
  "E\u0301te\u0301 (combining)",
  "Ежедневный ОТЧЁТ",
  "ΣΊΣΥΦΟΣ",
  "日本語の売上",
  "\u{1d4b3}\u{1d4b4}\u{1d4b5} letters",
  "\u{1f468}\u200d\u{1f469}\u200d\u{1f467} family",
  "İstanbul İSTANBUL",
  "Straße",
  "line\nbreak",
];
const WORDS = [
  ...TEXTS.flatMap((text) => text.split(/\s+/)),
  "%",
  "_",
  "0%",
  "00%",
  "___",
  "%%%",
  "e_c",
  "ecase",
  "k\\s",
  "ÄRG",
  "ärg",
  "rger",
  "отчёт",
  "ЕЖЕДНЕВ",
  "σίσυφος",
  "本語",
  "本語の",
  "\u{1d4b4}\u{1d4b5}",
  "istanbul",
  "strasse",
  "nul",
  "{cu",
  "ine break",
];

describe("the search index of PostgreSQL", () => {
  it("finds in texts of every language what a comparison of all texts finds", async () => {
    const store = await open(await createDatabase());
    const write = unitOfWork(store, fakeClock());
    const texts = new Map<string, string>();
    await write({ operation: "create", actor: testActor, requestId: "req_1" }, async (tx) => {
      for (const [index, description] of TEXTS.entries()) {
        const { id, name } = await insertWorkflow(tx, { name: `W ${index}`, description });
        texts.set(id, foldText([id, name, description].join("\n")));
      }
    });
    for (const word of WORDS) {
      const words = foldText(word).split(" ");
      const expected = [...texts].filter(([, text]) => words.every((one) => text.includes(one)));
      const { ids, count, plan } = await search(store, word);
      expect({ word, ids }).toEqual({ word, ids: expected.map(([id]) => id).toSorted() });
      expect({ word, count }).toEqual({ word, count: expected.length });
      const isIndexed = words.some((one) => Array.from(one).length >= 3);
      expect({ word, isIndexed: plan !== undefined }).toEqual({ word, isIndexed });
    }
  });

  it("is used for rare words of many workflows, and not for frequent ones", async () => {
    const store = await open(await createDatabase());
    await insertWorkflows({ store }, { count: 3_000, name: "Common words" });
    expect(await search(store, "many-002345")).toEqual({
      ids: ["many-002345"],
      count: 1,
      plan: expect.stringContaining("Bitmap Index Scan on workflows_by_text_parts") as string,
    });
    const frequent = await search(store, "common words");
    expect([frequent.ids.length, frequent.count, frequent.plan]).toEqual([50, 1_001, undefined]);
  });

  it("keeps no statistics, so that ANALYZE need not compute the parts of many texts", async () => {
    const url = await createDatabase({ template: "template0" });
    const store = await open(url);
    await insertWorkflows({ store }, { count: 10 });
    await execute(url, "analyze workflows");
    const { rows } = await sql<{ table: string }>`
      select distinct tablename as "table" from pg_stats
      where tablename in ('workflows', 'workflows_by_text_parts')`.execute(store.read);
    expect(rows).toEqual([{ table: "workflows" }]);
  });

  it("is built for the workflows of an existing database, and follows their changes", async () => {
    const url = await createDatabase({ template: "template0" });
    const before = await open(url, { migrations: MIGRATIONS.filter(({ id }) => id < 38) });
    await insertWorkflows({ store: before }, { count: 2_000, length: 500 });
    const { id, search_text: text } = await before.read
      .selectFrom("workflows")
      .select(["id", "search_text"])
      .where("id", "=", "many-001234")
      .executeTakeFirstOrThrow();
    await before.close();
    const store = await open(url);
    expect(store.upgrade).toEqual({ from: 37, to: MIGRATIONS.at(-1)!.id });
    const word = text.slice(-20);
    const { ids, plan } = await search(store, word);
    expect(ids).toEqual([id]);
    expect(plan).toContain("workflows_by_text_parts");
    await store.transaction((trx) =>
      trx.updateTable("workflows").set({ search_text: "another text" }).where("id", "=", id).execute(),
    );
    expect((await search(store, word)).ids).toEqual([]);
    expect((await search(store, "another")).ids).toEqual([id]);
  });
});

it("PostgreSQL folds the texts of an existing database, and finds folded words by its index", async () => {
  const url = await createDatabase({ template: "template0" });
  const before = await open(url, { migrations: MIGRATIONS.filter(({ id }) => id < 42) });
  await insertWorkflows({ store: before }, { count: 2_000, length: 500 });
  await before.transaction(async (trx) => {
    const texts = { name: "Straße ÉTÉ", name_key: "straße été", search_text: "straße été\ngro\u0308ße" };
    await trx
      .updateTable("workflows")
      .set({ ...texts, tags: '["Gro\u0308ße"]' })
      .where("id", "=", "many-001234")
      .execute();
    for (const client of ["ÄRGER/1", "curl/8"])
      await sql`insert into audit_log (at, operation, target, owner, key_name, surface, client)
        values ('', 'update_workflow', null, 'operator', null, 'rest', ${client})`.execute(trx);
  });
  await before.close();
  const store = await open(url);
  const { ids, plan } = await search(store, foldText("STRAẞE"));
  expect(ids).toEqual(["many-001234"]);
  expect(plan).toContain("workflows_by_text_parts");
  const read = workflowReader(store.read);
  expect([await read.count({ tag: "GRÖSSE" }), await read.count({ search: "e\u0301te\u0301" })]).toEqual([
    1, 1,
  ]);
  const audit = auditReader(store.read);
  const counts = ["ärger/1", "ARGER", "CURL"].map((word) => audit.count({ searchTerms: [word] }));
  expect(await Promise.all(counts)).toEqual([1, 0, 1]);
});

describe("a PostgreSQL store", () => {
  it("names what is wrong with the address, the password or the database", async () => {
    const url = await createDatabase();
    await expect(open(url, { database: databaseAt(url, "wrong") })).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("refuses the user or the password") as string,
    });
    await expect(open(`${url}_missing`)).rejects.toThrow(/The database does not exist/);
    await expect(open(url.replace(/:\d+\//, ":1/"))).rejects.toThrow(/The database can't be reached/);
  });

  it("reports lost connections, and uses new ones from then on", async () => {
    const url = await createDatabase();
    const { transaction, read, checkHealth } = await open(url);
    const lost = transaction(async (trx) => {
      await trx.insertInto("settings").values({ name: "a", value: "1" }).execute();
      await disconnect(url);
      await trx.insertInto("settings").values({ name: "b", value: "2" }).execute();
    });
    await expect(lost).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await checkHealth()).toBeUndefined();
    await transaction((trx) => trx.insertInto("settings").values({ name: "c", value: "3" }).execute());
    const rows = await read
      .selectFrom("settings")
      .select("name")
      .where("name", "in", ["a", "b", "c"])
      .execute();
    expect(rows).toEqual([{ name: "c" }]);
  });

  it("gives up connections on which nothing is answered, as when the machine of the server is gone", async () => {
    const direct = await createDatabase();
    const proxy = await tcpProxy(Number(new URL(direct).port));
    const url = Object.assign(new URL(direct), { port: String(proxy.port) }).href;
    const { transaction, read, checkHealth, changes } = await open(url, {
      // One to read, one to write.
      database: { ...databaseAt(url), maxConnections: 2 },
      answerMs: 500,
    });
    const other = await open(direct);
    const listener = vi.fn<() => void>();
    other.changes.subscribe(listener);
    const write = (name: string) =>
      transaction((trx) => trx.insertInto("settings").values({ name, value: "1" }).execute());
    const names = async (): Promise<string[]> => {
      const rows = await read.selectFrom("settings").select("name").where("name", "like", "test_%").execute();
      return rows.map((row) => row.name);
    };
    changes.subscribe(() => {});
    await write("test_1");
    expect([await names(), await checkHealth()]).toEqual([["test_1"], undefined]);
    proxy.stall();
    proxy.resume();
    expect(await names()).toEqual(["test_1"]);
    expect(await checkHealth()).toBeUndefined();
    const calls = listener.mock.calls.length;
    await write("test_2");
    expect(await names()).toEqual(["test_1", "test_2"]);
    // The connection that announces changes was lost too.
    await untilPassing(() => expect(listener.mock.calls.length).toBeGreaterThan(calls));
  });

  it("runs the statements of a transaction one after the other, and rolls back after an error of one", async () => {
    const { transaction, read } = await open(await createDatabase());
    const failing = transaction(async (trx) => {
      await trx.insertInto("settings").values({ name: "a", value: "1" }).execute();
      await Promise.all([trx.selectFrom("settings").selectAll().execute(), sql`select 1 / 0`.execute(trx)]);
    });
    await expect(failing).rejects.toThrow("division by zero");
    expect(await read.selectFrom("settings").select("name").where("name", "=", "a").execute()).toEqual([]);
  });

  it("runs a transaction again that finds a duplicate, but only once", async () => {
    const { transaction } = await open(await createDatabase());
    let runs = 0;
    const insert = (name: () => string) =>
      transaction(async (trx) => {
        runs += 1;
        await trx.insertInto("settings").values({ name: name(), value: "1" }).execute();
      });
    await insert(() => "a");
    runs = 0;
    await insert(() => (runs === 1 ? "a" : "b"));
    expect(runs).toBe(2);
    runs = 0;
    await expect(insert(() => "a")).rejects.toThrow(/duplicate key/);
    expect(runs).toBe(2);
  });

  it("lists and finds what SQLite does", async () => {
    const store = await open(await createDatabase());
    const write = unitOfWork(store, fakeClock());
    await write({ operation: "create", actor: testActor, requestId: "req_1" }, (tx) =>
      insertWorkflow(tx, { name: "Weekly Umsätze", tags: ["sales"] }),
    );
    const workflows = workflowReader(store.read);
    const runs = engineReaders(store.read).runs;
    const found = async (filter: WorkflowFilter) => {
      const query = { filter, sort: "-created_at", after: null, limit: 10, withDefinition: true } as const;
      const { items } = await workflows.page(query);
      expect(await workflows.count(filter)).toBe(items.length);
      return items.length;
    };
    expect(await found({ search: "umsätze weekly" })).toBe(1);
    expect(await found({ search: "monthly" })).toBe(0);
    expect(await found({ tag: "sales" })).toBe(1);
    expect(await found({ tag: "sale" })).toBe(0);
    for (const filter of [
      {},
      { status: ["failed"] },
      { trigger: "rest", isTrial: false },
      { isTrial: true },
    ] as const) {
      expect(await runs.page({ filter, after: null, limit: 10 })).toEqual({ items: [], next: null });
      expect(await runs.count(filter)).toBe(0);
    }
  });

  it("keeps the audit log a chain when several connections write", async () => {
    const url = await createDatabase();
    const clock = fakeClock();
    const stores = await Promise.all([open(url, { clock }), open(url, { clock })]);
    const write = stores.map((store) => unitOfWork(store, clock));
    await Promise.all(
      Array.from({ length: 10 }, (_, caller) =>
        write[caller % 2]!(
          { operation: `test_${caller % 3}`, actor: testActor, requestId: "req_1" },
          caller % 3 === 0
            ? async (tx) => void (await insertWorkflow(tx))
            : (tx) => tx.recordAudit(`target ${caller}`),
        ),
      ),
    );
    const verified = await verifyAuditLog(stores[0].read);
    expect(verified).toMatchObject({ missing: undefined });
    const rows = await stores[0].read.selectFrom("audit_log").select("id").orderBy("id").execute();
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe("the change feed of PostgreSQL", () => {
  it("calls subscribers after commits of this process and of others, and not after a rollback", async () => {
    const url = await createDatabase();
    const [here, other] = await Promise.all([open(url), open(url)]);
    const listener = vi.fn<() => void>();
    here.changes.subscribe(listener);
    // The first call says that it listens.
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(1));
    const commit = (store: typeof here) =>
      engineTransaction(store, fakeClock())((tx) => tx.usage.add("key_1", "rows", 1, 1));
    await commit(other);
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(2));
    await commit(here);
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(3));
    await expect(other.transaction(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await commit(other);
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(4));
  });

  it("connects again, and calls subscribers because of what they may have missed", async () => {
    const url = await createDatabase();
    const [here, other] = await Promise.all([open(url), open(url)]);
    const listener = vi.fn<() => void>();
    here.changes.subscribe(listener);
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(1));
    expect(await disconnect(url, "listen ")).toBe(1);
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(2));
    await other.transaction((trx) => trx.insertInto("settings").values({ name: "a", value: "1" }).execute());
    await untilPassing(() => expect(listener).toHaveBeenCalledTimes(3));
  });

  it("calls a subscriber once for several commits within the delay that it allows", async () => {
    const { changes, transaction } = await open(await createDatabase());
    const patient = vi.fn<() => void>();
    const eager = vi.fn<() => void>();
    changes.subscribe(patient, { maxDelayMs: 60_000 });
    await untilPassing(() => expect(patient).toHaveBeenCalledTimes(1));
    changes.subscribe(eager);
    for (const name of ["a", "b", "c"])
      await transaction((trx) => trx.insertInto("settings").values({ name, value: "1" }).execute());
    await untilPassing(() => expect(eager.mock.calls.length).toBeGreaterThan(0));
    expect(patient).toHaveBeenCalledTimes(1);
  });
});
