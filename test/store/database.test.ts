import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { openStore } from "../../src/store/database.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { retryWhileBusy } from "../../src/store/sqlite-driver.ts";
import { isBusy, isUnreachable, translateSqliteError } from "../../src/store/sqlite-errors.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { fakeClock } from "../support/clock.ts";
import { temporaryDirectory } from "../support/directories.ts";
import { testStore } from "../support/store.ts";

/** A connection of another program to the same file. */
function otherConnection(file: string): Database.Database {
  const db = new Database(file, { timeout: 0 });
  onTestFinished(() => void db.close());
  return db;
}

const open = (path: string) => openStore(openStateDirectory(path), fakeClock());
const refusal = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => expect.fail("expected a failure"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    },
  );

const fromSqlite = (code: string): Error => Object.assign(new Error("from SQLite"), { code });

/** Number of migrations of this release. */
const MIGRATION_COUNT = MIGRATIONS.length;

describe("migrations", () => {
  it("are applied once when several processes start at once", async () => {
    const stateDir = temporaryDirectory();
    const stores = await Promise.all(Array.from({ length: 5 }, () => testStore({ stateDir })));
    for (const { rows } of stores) expect(await rows("migrations")).toBe(MIGRATION_COUNT);
    const { rows } = await testStore({ stateDir });
    expect([await rows("migrations"), await rows("counters")]).toEqual([MIGRATION_COUNT, 2]);
  });

  it("of an incompatible newer release are refused, and nothing is changed", async () => {
    const { stateDir, store } = await testStore();
    const db = otherConnection(store.directory.databaseFile);
    db.exec("insert into migrations values (98, 'wide', 1, 'x'), (99, 'narrow', 99, 'x')");
    const error = await refusal(open(stateDir));
    expect(error.code).toBe("storage_unavailable");
    expect(error.message).toMatch(/newer release.*migration 99/);
    expect(db.prepare("select count(*) from migrations").pluck().get()).toBe(MIGRATION_COUNT + 2);
  });

  it("of a newer release that only added something are accepted", async () => {
    const { stateDir, store } = await testStore();
    otherConnection(store.directory.databaseFile).exec("insert into migrations values (99, 'wide', 1, 'x')");
    const later = await open(stateDir);
    expect(later.journalMode).toBe("wal");
    await later.close();
  });
});

describe("the open store", () => {
  it("caches statements, and works beyond the size of the cache", async () => {
    const { read, store, create } = await testStore();
    await create();
    for (let length = 1; length <= 450; length += 1) {
      const ids = Array.from({ length }, (_, i) => (i === 0 ? "weekly-revenue" : `x${i}`));
      const found = await store.read.selectFrom("workflows").select("id").where("id", "in", ids).execute();
      expect(found).toHaveLength(1);
    }
    expect(await read.count({})).toBe(1);
  });

  it("works after a newer release adds columns to a table", async () => {
    const { store, create, read } = await testStore();
    const all = () => store.read.selectFrom("workflows").selectAll().execute();
    await create();
    expect((await all())[0]).toHaveProperty("id");
    otherConnection(store.directory.databaseFile).exec(
      "alter table workflows add column later text default 'x'",
    );
    expect((await all())[0]).toHaveProperty("later", "x");
    await create();
    expect(await read.count({})).toBe(2);
  });

  it("refuses writes on the read connection", async () => {
    const { store } = await testStore();
    await expect(store.read.deleteFrom("workflows").execute()).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  it("enforces foreign keys", async () => {
    const { store } = await testStore();
    const orphan = store.transaction((trx) =>
      trx
        .deleteFrom("workflows")
        .execute()
        .then(() =>
          trx
            .insertInto("workflow_versions")
            .values({
              workflow_id: "nothing",
              version: 1,
              change: "created",
              name: "",
              description: "",
              tags: "[]",
              definition: null,
              reason: null,
              created_at: "",
              created_by: "",
              key_name: "",
              surface: "cli",
              client: "",
            })
            .execute(),
        ),
    );
    await expect(orphan).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_FOREIGNKEY" });
  });

  it("waits for another process's lock without blocking its own process", async () => {
    const { store, create, read } = await testStore();
    const other = otherConnection(store.directory.databaseFile);
    other.exec("begin immediate");
    let ticks = 0;
    // If waiting blocked the process, this would never run, and the lock would never be released.
    const ticking = setInterval(() => {
      ticks += 1;
      if (ticks === 20) other.exec("commit");
    }, 5);
    await create();
    clearInterval(ticking);
    expect(ticks).toBeGreaterThanOrEqual(20);
    expect(await read.count({})).toBe(1);
  });

  it("reports why the database can't be used, without taking a lock", async () => {
    const { store, stateDir } = await testStore();
    const file = store.directory.databaseFile;
    const other = otherConnection(file);
    other.exec("begin exclusive");
    expect(await store.checkHealth()).toBeUndefined();
    other.exec("rollback");
    renameSync(file, join(stateDir, "away"));
    expect(await store.checkHealth()).toMatch(
      /is gone.*restore a backup.*a restart would create an empty database/,
    );
    copyFileSync(join(stateDir, "away"), file);
    expect(await store.checkHealth()).toMatch(/was replaced/);
    rmSync(file);
    renameSync(join(stateDir, "away"), file);
    expect(await store.checkHealth()).toBeUndefined();
  });
});

/** A store after a query that failed with an I/O error. */
async function failing(local: boolean) {
  const store = await openStore({ ...openStateDirectory(temporaryDirectory()), local }, fakeClock());
  onTestFinished(() => store.close());
  const prepare = vi.spyOn(Database.prototype, "prepare").mockImplementation(() => {
    throw fromSqlite("SQLITE_IOERR_LOCK");
  });
  await refusal(store.read.selectFrom("settings").select("name").execute());
  prepare.mockRestore();
  let lost = false;
  void store.storageLost.then(() => (lost = true));
  await Promise.resolve();
  return { store, lost: () => lost };
}

describe("an I/O error", () => {
  it("on a network file system stops all access, because a lock may be lost", async () => {
    const { store, lost } = await failing(false);
    expect(lost()).toBe(true);
    const write = store.transaction((trx) => trx.deleteFrom("settings").execute());
    expect(await refusal(write)).toMatchObject({ code: "storage_unavailable" });
    expect(await refusal(store.read.selectFrom("settings").selectAll().execute())).toMatchObject({
      message: expect.stringContaining("network file system"),
    });
  });

  it("on a local file system is reported, and later queries may succeed", async () => {
    const { store, lost } = await failing(true);
    expect(lost()).toBe(false);
    expect(await store.read.selectFrom("counters").select("value").execute()).toEqual([
      { value: 0 },
      { value: 0 },
    ]);
  });
});

describe("a state directory", () => {
  it("is created for its user alone, with its missing parents", () => {
    const path = join(temporaryDirectory(), "a", "b");
    const directory = openStateDirectory(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(directory).toMatchObject({ path, databaseFile: join(path, "millrace.db") });
  });

  it.each<[string, (path: string) => void, RegExp]>([
    ["is a file", (path) => writeFileSync(path, ""), /there is a file where the directory should be/],
    ["is a loop of links", (path) => symlinkSync(path, path), /links form a loop/],
    ["is in a file", (path) => writeFileSync(join(path, ".."), ""), /there is a file where/],
  ])("that %s is refused with a message", (_, prepare, words) => {
    const above = join(temporaryDirectory(), "above");
    const path = join(above, "state");
    if (_ !== "is in a file") mkdirSync(above);
    prepare(path);
    expect(() => openStateDirectory(path)).toThrowError(words);
    expect(() => openStateDirectory(path)).toThrowError(/MILLRACE_STATE_DIR/);
  });

  it.each<[string, string | Buffer, RegExp]>([
    ["is no database", "this is not a database, not at all\n".repeat(200), /not a Millrace database/],
    [
      "is damaged",
      Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(8_192, 0xff)]),
      /damaged|not a Millrace/,
    ],
  ])("whose millrace.db %s is refused with a message", async (_, content, words) => {
    const path = temporaryDirectory();
    writeFileSync(join(path, "millrace.db"), content);
    const error = await refusal(open(path));
    expect(error.code).toBe("storage_unavailable");
    expect(error.message).toMatch(words);
  });

  it("whose millrace.db is a directory is refused with a message", async () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, "millrace.db"));
    expect(await refusal(open(path))).toMatchObject({ code: "storage_unavailable" });
  });
});

describe("retryWhileBusy", () => {
  const busy = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });

  it("retries until it succeeds", async () => {
    let attempts = 0;
    const result = await retryWhileBusy(() => {
      attempts += 1;
      if (attempts < 4) throw busy;
      return "done";
    });
    expect([result, attempts]).toEqual(["done", 4]);
  });

  it("gives up at the limit, with Retry-After", async () => {
    const error = await refusal(
      retryWhileBusy(() => {
        throw busy;
      }, 30),
    );
    expect(error).toMatchObject({
      code: "busy",
      status: 503,
      cause: busy,
      details: { headers: { "Retry-After": "1" } },
    });
  });

  it("does not retry other errors", async () => {
    let attempts = 0;
    const full = Object.assign(new Error("full"), { code: "SQLITE_FULL" });
    const error = await refusal(
      retryWhileBusy(() => {
        attempts += 1;
        throw full;
      }),
    );
    expect([error.code, attempts]).toEqual(["storage_unavailable", 1]);
  });
});

describe("SQLite's errors", () => {
  it.each([
    ["SQLITE_BUSY", "busy", false],
    ["SQLITE_BUSY_SNAPSHOT", "busy", false],
    ["SQLITE_LOCKED_SHAREDCACHE", "busy", false],
    ["SQLITE_FULL", "storage_unavailable", false],
    ["SQLITE_READONLY_DBMOVED", "storage_unavailable", false],
    ["SQLITE_CORRUPT_VTAB", "storage_unavailable", true],
    ["SQLITE_NOTADB", "storage_unavailable", true],
    ["SQLITE_CANTOPEN_ISDIR", "storage_unavailable", true],
    ["SQLITE_IOERR_WRITE", "storage_unavailable", true],
    ["SQLITE_PERM", "storage_unavailable", false],
    ["SQLITE_PROTOCOL", "storage_unavailable", false],
  ])("%s becomes %s; the database is unreadable: %s", (code, ours, unreachable) => {
    const error = fromSqlite(code);
    const translated = translateSqliteError(error) as AppError;
    expect(translated).toMatchObject({ code: ours, cause: error, status: 503 });
    expect(translated.details.headers).toHaveProperty("Retry-After");
    expect(translated.message).not.toContain("from SQLite");
    expect([isUnreachable(error), isUnreachable(translated)]).toEqual([unreachable, unreachable]);
    expect(isBusy(error)).toBe(ours === "busy");
  });

  it.each([[fromSqlite("SQLITE_CONSTRAINT_UNIQUE")], [new Error("x")], ["text"], [null], [undefined]])(
    "leaves %s as it is",
    (error) => {
      expect(translateSqliteError(error)).toBe(error);
    },
  );
});
