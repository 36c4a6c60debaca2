import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import type * as Inspect from "../../src/store/inspect.ts";
import { createBackup, createRestoredDatabase } from "../../src/store/backup.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { removeStalePartials, finalizeCopy } from "../../src/store/database-copy.ts";
import type { SqliteStore } from "../../src/store/database.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { createOldState } from "../support/old-state.ts";
import { addUser, signIn } from "../support/users.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";

/** Called with every database that is inspected. */
const onInspect = vi.hoisted(() => vi.fn<(place: { databaseFile: string }) => void>());

vi.mock("../../src/store/inspect.ts", async (original) => {
  const { inspectDatabase } = await original<typeof Inspect>();
  return {
    inspectDatabase: (place: { databaseFile: string }) => {
      onInspect(place);
      return inspectDatabase(place);
    },
  };
});

const AT = "2026-11-22T09:00:00.000Z";
const MARK = { at: "2026-11-21T08:00:00.000Z", release: "1.2.3" };
const databaseOf = (stateDir: string): string => join(stateDir, "millrace.db");

function ask<T>(file: string, query: string): T[] {
  const db = new Database(file, { fileMustExist: true });
  const rows = db.prepare(query).all() as T[];
  db.close();
  return rows;
}

function change(file: string, work: (db: Database.Database) => void): void {
  const db = new Database(file, { fileMustExist: true });
  work(db);
  db.close();
}

const refusal = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => expect.fail("expected a failure"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    },
  );

/** A backup of a state directory, with its path and contents. */
async function backedUp(stateDir = createOldState(1)) {
  const directory = temporaryDirectory();
  const file = join(directory, "m.db");
  const contents = await createBackup({ databaseFile: databaseOf(stateDir), partial: file }, MARK);
  return { stateDir, directory, file, contents };
}

/** A state directory that is restored from a backup. */
async function restored(file: string) {
  const stateDir = temporaryDirectory();
  const done = await createRestoredDatabase({ file, partial: databaseOf(stateDir) }, AT);
  return { stateDir, database: databaseOf(stateDir), ...done };
}

/** Whether limits per key have defaults in a copy of a state directory. */
const defaultsInCopyOf = async (from: string): Promise<boolean> => {
  const { stateDir } = await restored((await backedUp(from)).file);
  return (await testInstance({ stateDir })).hasDefaultLimits;
};

/** Overwrites pages in the middle. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 8 * 4096, 14 * 4096);
  writeFileSync(file, bytes);
}

describe("a backup", () => {
  it.each(JOURNAL_MODES)("changes nothing in the state, its journal included (%s)", async (_, local) => {
    const { stateDir } = await testInstance({ local });
    const settings = () => ask(databaseOf(stateDir), "select name, value from settings order by name");
    const before = settings();
    const { file } = await backedUp(stateDir);
    expect(settings()).toEqual(before);
    const [journal, copy] = [databaseOf(stateDir), file].map((path) => ask(path, "pragma journal_mode"));
    expect([journal, copy]).toEqual([
      [{ journal_mode: local ? "wal" : "delete" }],
      [{ journal_mode: "delete" }],
    ]);
  });

  it("keeps whether limits per key have defaults", async () => {
    expect(await defaultsInCopyOf((await testInstance()).stateDir)).toBe(true);
    expect(await defaultsInCopyOf(createOldState(1))).toBe(false);
  });

  it("copies the state of an older release unchanged, and reports its contents", async () => {
    const { stateDir, directory, file, contents } = await backedUp();
    expect(contents).toEqual({
      createdAt: MARK.at,
      createdByRelease: MARK.release,
      migration: 1,
      newest: MIGRATIONS.at(-1)!.id,
      rows: {
        workflows: 3,
        workflow_versions: 6,
        runs: 0,
        approvals: 0,
        schedules: 0,
        users: 0,
        api_keys: 5,
        audit_log: 12,
      },
      unfinishedRuns: 0,
    });
    expect(ask(databaseOf(stateDir), "select max(id) as id from migrations")).toEqual([{ id: 1 }]);
    expect([readdirSync(stateDir), readdirSync(directory)]).toEqual([["millrace.db"], ["m.db"]]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    [
      "is another program's",
      (file) => new Database(file).exec("create table t (a)").close(),
      /is the database of another program/,
    ],
    ["is empty", (file) => new Database(file).exec("vacuum").close(), /is empty: Millrace has never used it/],
    [
      "is damaged",
      (file) => {
        cpSync(databaseOf(createOldState(1)), file);
        damage(file);
      },
      /is damaged: /,
    ],
    [
      "is of a newer release",
      (file) => {
        cpSync(databaseOf(createOldState(1)), file);
        change(file, (db) => db.exec("insert into migrations values (99, 'x', 99, 'x')"));
      },
      /was written by a newer release of Millrace \(migration 99/,
    ],
  ])("is refused for a database that %s, and leaves no file", async (_, prepare, words) => {
    const stateDir = temporaryDirectory();
    prepare(databaseOf(stateDir));
    const directory = temporaryDirectory();
    const work = createBackup({ databaseFile: databaseOf(stateDir), partial: join(directory, "m.db") }, MARK);
    const error = await refusal(work);
    expect([error.code, error.message]).toEqual(["storage_unavailable", expect.stringMatching(words)]);
    expect([readdirSync(stateDir), readdirSync(directory)]).toEqual([["millrace.db"], []]);
  });
});

describe("unfinished backups of killed processes", () => {
  it("are removed, except those in progress and those of other backups", () => {
    const directory = temporaryDirectory();
    const names = ["m.db", "m.db.partial-x", "other.db.partial-0123abcd"];
    // Entries of another program, in a directory that several programs share.
    mkdirSync(join(directory, "m.db.partial-00000000"));
    symlinkSync(directory, join(directory, "m.db.partial-00000001"));
    const others = ["m.db.partial-00000000", "m.db.partial-00000001"];
    for (const name of [...names, "m.db.partial-0123abcd", "m.db.partial-0123abcd-journal"])
      writeFileSync(join(directory, name), "half a database");
    const busy = new Database(join(directory, "m.db.partial-89abcdef"));
    busy.exec("create table t (a); begin immediate");
    const left = () => {
      removeStalePartials(directory, (name) => name === "m.db");
      return readdirSync(directory).toSorted();
    };
    expect(left()).toEqual(["m.db", "m.db.partial-89abcdef", ...others, ...names.slice(1)].toSorted());
    busy.close();
    expect(left()).toEqual([...names, ...others].toSorted());
  });

  it("do not include a copy that is being verified", async () => {
    const { stateDir } = await backedUp();
    const directory = temporaryDirectory();
    const partial = join(directory, "m.db.partial-0123abcd");
    let inspections = 0;
    onInspect.mockImplementation(({ databaseFile }) => {
      if (databaseFile !== partial) return;
      inspections += 1;
      removeStalePartials(directory, () => true);
    });
    await createBackup({ databaseFile: databaseOf(stateDir), partial }, MARK);
    onInspect.mockReset();
    expect([inspections, readdirSync(directory)]).toEqual([1, ["m.db.partial-0123abcd"]]);
    removeStalePartials(directory, () => true);
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("a complete copy", () => {
  it("gets its final name unless that exists, which stays unchanged", () => {
    const directory = temporaryDirectory();
    const [partial, file] = [join(directory, "m.db.partial-0123abcd"), join(directory, "m.db")];
    writeFileSync(partial, "copy");
    writeFileSync(file, "mine");
    expect(() => finalizeCopy(partial, file)).toThrowError(/EEXIST/);
    expect([readFileSync(partial, "utf8"), readFileSync(file, "utf8")]).toEqual(["copy", "mine"]);
    rmSync(file);
    finalizeCopy(partial, file);
    expect([readdirSync(directory), readFileSync(file, "utf8")]).toEqual([["m.db"], "copy"]);
  });
});

describe("a restored state", () => {
  it("is migrated by the next start, and contains none of the backup's settings", async () => {
    const { file } = await backedUp();
    const { stateDir, database, contents } = await restored(file);
    expect(contents).toMatchObject({ createdAt: MARK.at, createdByRelease: "1.2.3", migration: 1 });
    expect(readdirSync(stateDir)).toEqual(["millrace.db"]);
    expect(statSync(database).mode & 0o777).toBe(0o600);
    expect(ask(database, "select name from settings order by name")).toEqual([
      { name: "cursor_key" },
      { name: "restored_at" },
    ]);
    const instance = await testInstance({ stateDir });
    expect(await instance.read.workflows.count({})).toBe(2);
    expect((instance.store as SqliteStore).journalMode).toBe("wal");
  });

  it("has no sessions and links, but all keys and users", async () => {
    const live = await testInstance();
    const [rest, { value: key }] = [await live.rest(), await live.key()];
    const ann = await addUser(live, { email: "ann@example.com" });
    const { cookie } = await signIn(live, ann);
    change(databaseOf(live.stateDir), (db) =>
      db.exec(`
        insert into account_links (digest, kind, user_id, created_at) values (x'01', 'setup', null, '2026-01-01');
        insert into mcp_sessions (id, key_id, kind, seen_at) values ('s', 'key', 'http', '2026-01-01');
        insert into mcp_messages (session_id, body, created_at) values ('s', '{}', '2026-01-01');
        insert into sessions (id, digest, user_id, created_at, seen_at, expires_at, client, address, external, sealed)
          select 'ses_elsewhere', x'02', id, '2026-01-01', '2026-01-01', '2027-01-01', '', '', 1, x'03' from users;
        insert into api_keys (id, digest, last_four, name, owner, scopes, lineage, created_at, application, renewable_until)
          values ('key_app', x'04', 'abcd', 'App', 'ann@example.com', '["read"]', 'key_app', '2026-01-01', '{}', '2027-01-01');
        insert into second_factors (id, user_id, kind, name, created_at, counter) select 'fac_1', id, 'totp', 'Phone', '2026-01-01', 1 from users;
        insert into recovery_codes (digest, user_id, used_at)
          select x'05', id, null from users union all select x'06', id, '2026-01-01' from users;`),
    );
    const { stateDir, database, cleanup } = await restored((await backedUp(live.stateDir)).file);
    expect(cleanup).toEqual({ sessions: 2, links: 1, recoveryCodes: 1, mcpSessions: 1, jobs: 0 });
    const count = (table: string) => ask<{ n: number }>(database, `select count(*) as n from ${table}`)[0]!.n;
    const tables = ["account_links", "recovery_codes", "mcp_sessions", "mcp_messages"];
    expect(tables.map(count)).toEqual([0, 0, 0, 0]);
    expect(["users", "second_factors", "api_keys"].map(count)).toEqual([1, 1, 2]);
    expect(ask(database, "select id from api_keys where revoked_at is not null")).toEqual([
      { id: "key_app" },
    ]);
    // A session of an external provider could continue there, so its row must record that it has ended.
    expect(ask(database, "select id, ended_at, sealed from sessions")).toEqual([
      { id: "ses_elsewhere", ended_at: AT, sealed: null },
    ]);
    expect(
      ask(database, "select at, operation, target, owner from audit_log order by id desc limit 1"),
    ).toEqual([{ at: AT, operation: "restore_backup", target: MARK.at, owner: "operator" }]);
    const again = await (await testInstance({ stateDir })).rest();
    expect((await apiClient(again.url, key)("GET", "/workflows")).status).toBe(200);
    const session = async (url: string) =>
      (await apiClient(url)("GET", "/session", undefined, { Cookie: cookie })).status;
    expect([await session(rest.url), await session(again.url)]).toEqual([200, 401]);
  });

  it("gives lists a new ETag", async () => {
    const live = await testInstance();
    const { value } = await live.key();
    const call = apiClient((await live.rest()).url, value);
    const { file } = await backedUp(live.stateDir);
    await call("POST", "/workflows", { name: "Lost", description: "" });
    const lost = (await call("GET", "/workflows")).headers.get("etag")!;
    const { stateDir } = await restored(file);
    const again = apiClient((await (await testInstance({ stateDir })).rest()).url, value);
    await again("POST", "/workflows", { name: "Another", description: "" });
    expect((await again("GET", "/workflows", undefined, { "If-None-Match": lost })).status).toBe(200);
  });

  it("releases the jobs of former executors, and quarantines none of them", async () => {
    const { database, cleanup } = await restored((await backedUp(createOldState(2))).file);
    expect(cleanup.jobs).toBe(1);
    expect(ask(database, "select id from executors")).toEqual([]);
    expect(
      ask(
        database,
        "select state, executor, due_at, attempt, tries, fence, suspect, kills from jobs where kind = 'step'",
      ),
    ).toEqual([
      { state: "ready", executor: null, due_at: AT, attempt: 2, tries: 1, fence: 2, suspect: 0, kills: 0 },
    ]);
    expect(
      ask(
        database,
        "select status, item from run_attempts where finished_at is not null and status <> 'succeeded'",
      ),
    ).toEqual([{ status: "interrupted", item: 2 }]);
  });

  it("finds the workflows that it has, and those that are created afterwards", async () => {
    const { stateDir, create, clock } = await testStore();
    // The numbers of the search index are not those of the rows, which the copy changes.
    for (const name of ["Gone", "Weekly revenue"]) await create({ name });
    const { file } = await backedUp(stateDir);
    const copy = temporaryDirectory();
    await createRestoredDatabase({ file, partial: databaseOf(copy) }, AT);
    const again = await testStore({ stateDir: copy, clock });
    await again.create({ name: "Monthly revenue" });
    const count = (search: string) => again.read.count({ search });
    expect([await count("weekly"), await count("revenue"), await count("missing")]).toEqual([1, 2, 0]);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ["is damaged", damage, /m\.db is damaged: .*Restore the newest undamaged backup/],
    ["was cut off", (file) => truncateSync(file, statSync(file).size - 3 * 4096), /m\.db is damaged: /],
    [
      "is no database",
      (file) => writeFileSync(file, "text ".repeat(2_000)),
      /m\.db is damaged: file is not a database/,
    ],
    [
      "is another program's",
      (file) => change(file, (db) => db.pragma("application_id = 7")),
      /m\.db is the database of another program/,
    ],
    [
      "has rows that violate its schema",
      (file) =>
        change(file, (db) => {
          db.unsafeMode();
          db.pragma("writable_schema = on");
          db.exec(`update sqlite_schema set sql = replace(sql, '"reason" text', '"reason" text not null')`);
        }),
      /m\.db is damaged: NULL value in workflow_versions\.reason/,
    ],
    [
      "has a foreign trigger",
      (file) =>
        change(file, (db) =>
          db.exec(
            "create trigger back after update on api_keys begin update api_keys set revoked_at = null; end",
          ),
        ),
      /m\.db is damaged: it has a trigger that Millrace did not create, "back"/,
    ],
    [
      "has a changed trigger",
      (file) =>
        change(file, (db) =>
          db.exec(
            "create trigger workflow_search_insert after insert on workflows begin delete from grants; end",
          ),
        ),
      /m\.db is damaged: it has a trigger that Millrace did not create, "workflow_search_insert"/,
    ],
    [
      "refers to missing rows",
      (file) => change(file, (db) => db.pragma("foreign_keys = off") && db.exec("delete from workflows")),
      /rows of workflow_versions refer to missing rows/,
    ],
    [
      "is of a newer release",
      (file) =>
        change(file, (db) =>
          db.exec(
            "insert into migrations values (99, 'x', 99, 'x'); insert into settings values ('release', '7.8.9')",
          ),
        ),
      /m\.db was written by a newer release of Millrace, 7\.8\.9 .* Start 7\.8\.9 or a newer one/,
    ],
  ])("is not created from a backup that %s, and leaves no file", async (_, ruin, words) => {
    const { file } = await backedUp();
    ruin(file);
    const stateDir = temporaryDirectory();
    const error = await refusal(createRestoredDatabase({ file, partial: databaseOf(stateDir) }, AT));
    expect([error.code, error.message]).toEqual(["storage_unavailable", expect.stringMatching(words)]);
    expect(readdirSync(stateDir)).toEqual([]);
  });
});
