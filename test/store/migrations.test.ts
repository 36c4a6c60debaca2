import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Kysely, sql } from "kysely";
import { describe, expect, it, onTestFinished } from "vitest";
import { AppError } from "../../src/core/errors.ts";
import { noMeter } from "../../src/core/meter.ts";
import { STOP_PRIORITY } from "../../src/core/model.ts";
import { usageSubjectOf } from "../../src/core/usage-limits.ts";
import { openStore } from "../../src/store/database.ts";
import { type Migration, MIGRATIONS } from "../../src/store/migrate.ts";
import { openStateDirectory } from "../../src/store/state-directory.ts";
import { fakeClock } from "../support/clock.ts";
import { temporaryDirectory } from "../support/directories.ts";
import { createOldState } from "../support/old-state.ts";
import { JOURNAL_MODES, testStore } from "../support/store.ts";
import packageJson from "../../package.json" with { type: "json" };

const NEWEST = MIGRATIONS.at(-1)!.id;

const open = async (
  stateDir: string,
  {
    migrations = MIGRATIONS,
    local = true,
    clock = fakeClock(),
  }: { migrations?: readonly Migration[]; local?: boolean; clock?: ReturnType<typeof fakeClock> } = {},
) => {
  const store = await openStore({ ...openStateDirectory(stateDir), local }, clock, noMeter, migrations);
  onTestFinished(() => store.close());
  return store;
};

const copiesIn = (stateDir: string): string[] =>
  readdirSync(stateDir)
    .filter((name) => name.startsWith("millrace.db.before-"))
    .toSorted();

/** The contents of a database, read without changing it. */
function contentsOf(file: string): { migrations: number[]; tables: string[]; keys: number; journal: string } {
  const db = new Database(file, { readonly: true });
  try {
    const list = (query: string) => db.prepare(query).pluck().all();
    return {
      migrations: list("select id from migrations order by id") as number[],
      tables: list("select name from sqlite_schema order by name") as string[],
      keys: list("select count(*) from api_keys")[0] as number,
      journal: db.pragma("journal_mode", { simple: true }) as string,
    };
  } finally {
    db.close();
  }
}

const failure = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => expect.fail("expected a failure"),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
      return error as AppError;
    },
  );

/** The migrations of this release and one more. */
const further = (
  up: Migration["up"],
  { id = NEWEST + 1, requires = 1 }: { id?: number; requires?: number } = {},
): readonly Migration[] => [...MIGRATIONS, { id, name: "further", requires, up }];

const addTable = async (db: Kysely<never>): Promise<void> => {
  await sql`create table further (a)`.execute(db);
};

describe("a copy of the database", () => {
  it.each(JOURNAL_MODES)(
    "is made before its tables change, readable by this user alone (%s)",
    async (_, local) => {
      const stateDir = createOldState(1);
      const before = contentsOf(join(stateDir, "millrace.db"));
      const { upgrade } = await open(stateDir, { local });
      const [name, ...more] = copiesIn(stateDir);
      expect([name, more]).toEqual([`millrace.db.before-${NEWEST}-20261121T080000000Z`, []]);
      const copy = join(stateDir, name!);
      expect(upgrade).toEqual({ from: 1, to: NEWEST, copy });
      expect(contentsOf(copy)).toEqual({ ...before, journal: "delete" });
      expect(before.migrations).toEqual([1]);
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      expect(contentsOf(join(stateDir, "millrace.db")).migrations).toEqual(MIGRATIONS.map(({ id }) => id));
    },
  );

  it("is made once when several processes start at once", async () => {
    const stateDir = createOldState(2);
    const stores = await Promise.all(Array.from({ length: 5 }, () => testStore({ stateDir })));
    for (const { rows } of stores) expect(await rows("migrations")).toBe(MIGRATIONS.length);
    expect(copiesIn(stateDir)).toHaveLength(1);
  });

  it("is not made of a new database or an unchanged one", async () => {
    const stateDir = temporaryDirectory();
    for (const store of [await open(stateDir), await open(stateDir)]) expect(store.upgrade).toBeUndefined();
    expect(copiesIn(stateDir)).toEqual([]);
  });

  it("is kept of the last two upgrades; unfinished copies are removed, and other files stay", async () => {
    const stateDir = createOldState(1);
    const clock = fakeClock();
    const others = ["millrace.db.before-the-move", "millrace.db.before-9-mine", "notes.partial-0123abcd"];
    for (const name of others) writeFileSync(join(stateDir, name), "");
    writeFileSync(join(stateDir, "millrace.db.before-4-20260101T000000000Z.partial-0123abcd"), "half");
    for (const [index, id] of [NEWEST, NEWEST + 1, NEWEST + 2, NEWEST + 3].entries()) {
      clock.advance(60_000);
      const more = Array.from({ length: index }, (_, i) => ({
        id: NEWEST + 1 + i,
        name: `further-${i}`,
        requires: 1,
        up: async (db: Kysely<never>) => {
          await sql`create table ${sql.table(`further_${i}`)} (a)`.execute(db);
        },
      }));
      await open(stateDir, { migrations: [...MIGRATIONS, ...more], clock });
      expect(copiesIn(stateDir)).toContainEqual(expect.stringContaining(`before-${id}-`));
    }
    expect(
      readdirSync(stateDir)
        .filter((name) => !/^millrace\.db(-wal|-shm)?$/.test(name))
        .toSorted(),
    ).toEqual(
      [
        ...others,
        `millrace.db.before-${NEWEST + 2}-20261121T080300000Z`,
        `millrace.db.before-${NEWEST + 3}-20261121T080400000Z`,
      ].toSorted(),
    );
  });
});

describe("a migration that fails", () => {
  it("leaves the database unchanged and no copy, and reports it; the next attempt succeeds", async () => {
    const stateDir = createOldState(2);
    const file = join(stateDir, "millrace.db");
    const before = contentsOf(file);
    const broken = further(async (db) => {
      await addTable(db);
      await sql`delete from api_keys`.execute(db);
      await sql`insert into nowhere values (1)`.execute(db);
    });
    const error = await failure(open(stateDir, { migrations: broken }));
    expect(error.code).toBe("storage_unavailable");
    expect(error.message).toContain(`Migration ${NEWEST + 1} (further) failed: no such table: nowhere.`);
    expect(error.message).toContain("The database is unchanged, at migration 2");
    expect(contentsOf(file)).toEqual(before);
    expect(copiesIn(stateDir)).toEqual([]);
    await open(stateDir, { migrations: further(addTable) });
    expect(contentsOf(file)).toMatchObject({
      keys: before.keys,
      tables: expect.arrayContaining(["further"]),
    });
  });
});

describe("a database of another release", () => {
  it("that only added something is used unchanged", async () => {
    const stateDir = temporaryDirectory();
    await (await open(stateDir, { migrations: further(addTable, { requires: NEWEST }) })).close();
    const older = await open(stateDir);
    expect(await older.read.selectFrom("counters").select("value").execute()).toEqual([
      { value: 0 },
      { value: 0 },
    ]);
    expect(contentsOf(join(stateDir, "millrace.db")).migrations.at(-1)).toBe(NEWEST + 1);
  });

  it("that removed something is refused unchanged, with the release that is required", async () => {
    const stateDir = temporaryDirectory();
    const id = NEWEST + 2;
    await (await open(stateDir, { migrations: further(addTable, { id, requires: id }) })).close();
    const db = new Database(join(stateDir, "millrace.db"));
    db.prepare("update settings set value = '7.8.9' where name = 'release'").run();
    // The journal mode differs from the one that the directory needs; even that stays unchanged.
    db.pragma("journal_mode = delete");
    db.close();
    const bytes = readFileSync(join(stateDir, "millrace.db"));
    const error = await failure(open(stateDir));
    expect(error.code).toBe("storage_unavailable");
    expect(error.message).toContain(
      `was written by a newer release of Millrace, 7.8.9 (migration ${id}; this is ${packageJson.version}, which knows ${NEWEST}). ` +
        "Nothing was changed. Start 7.8.9 or a newer one",
    );
    expect(readFileSync(join(stateDir, "millrace.db")).equals(bytes)).toBe(true);
    expect(readdirSync(stateDir)).toEqual(["millrace.db"]);
  });

  it("names the release that last changed its tables", async () => {
    const stateDir = createOldState(1);
    const store = await open(stateDir);
    const release = store.read.selectFrom("settings").select("value").where("name", "=", "release");
    expect(await release.execute()).toEqual([{ value: packageJson.version }]);
    expect(existsSync(join(stateDir, "millrace.db-wal"))).toBe(true);
  });
});

it("gives the jobs of before to the owners and the workflows of their runs", async () => {
  const stateDir = temporaryDirectory();
  const jobOwners = MIGRATIONS.findIndex(({ name }) => name === "job-owners");
  const before = await open(stateDir, { migrations: MIGRATIONS.slice(0, jobOwners) });
  const owners = [
    ["run_1", "ann@example.com"],
    ["run_2", "operator"],
  ];
  await before.transaction(async (trx) => {
    await sql`insert into workflows (id, name, name_key, description, tags, search_text, status, version, created_at,
      updated_at, created_by) values ('daily', '', '', '', '[]', '', 'draft', 1, '', '', '')`.execute(trx);
    for (const [id, owner] of owners) {
      await sql`insert into runs (id, workflow_id, version, status, states, seq, admitted, trigger, priority, depth,
        first_run, owner, key_name, lineage, surface, client, created_at, inputs) values (${id}, 'daily', 1, 'running', '',
        0, 1, 'rest', 0, 0, ${id}, ${owner}, 'ci', 'key_1', 'rest', '', '', '{}')`.execute(trx);
      for (const kind of ["step", "run_timeout"])
        await sql`insert into jobs (kind, state, priority, run_id, step_id, item, attempt, tries, fence, suspect, kills,
          alone) values (${kind}, 'ready', 3, ${id}, '', -1, 1, 1, 0, 0, 0, 0)`.execute(trx);
    }
  });
  await before.close();
  const { read } = await open(stateDir);
  const jobs = await read
    .selectFrom("jobs")
    .select(["subject", "workflow_id", "kind", "priority"])
    .orderBy("id")
    .execute();
  const subjects = [
    usageSubjectOf({ owner: "ann@example.com", lineage: "key_1" }),
    usageSubjectOf({ owner: "operator", lineage: "key_1" }),
  ];
  expect(jobs).toEqual(
    subjects.flatMap((subject) => [
      { subject, workflow_id: "daily", kind: "step", priority: 3 },
      { subject, workflow_id: "daily", kind: "run_timeout", priority: STOP_PRIORITY },
    ]),
  );
});

it("records who caused the unfinished runs of before: who started, changed or wrote what they repeat", async () => {
  const stateDir = temporaryDirectory();
  const runCauses = MIGRATIONS.findIndex(({ name }) => name === "run-causes");
  const before = await open(stateDir, { migrations: MIGRATIONS.slice(0, runCauses) });
  const runs = [
    { id: "first", person: "ann", ended: true },
    { id: "patched", person: "ben", retryOf: "first", definition: true },
    { id: "child", person: "ben", parent: "patched", depth: 1 },
    { id: "ended", person: "cid", retryOf: "first", ended: true },
    { id: "kept", person: "cid", ended: true, definition: true },
    { id: "plain", person: "cid" },
  ];
  await before.transaction(async (trx) => {
    await sql`insert into workflows (id, name, name_key, description, tags, search_text, status, version, created_at,
      updated_at, created_by) values ('daily', '', '', '', '[]', '', 'draft', 1, '', '', '')`.execute(trx);
    for (const { id, person, ended, retryOf = null, parent = null, definition, depth = 0 } of runs)
      await sql`insert into runs (id, project, workflow_id, version, status, states, seq, admitted, trigger, priority,
        depth, first_run, owner, key_name, lineage, surface, client, created_at, inputs, stored_bytes, finished_at, retry_of,
        parent_run, definition) values (${id}, 'default', 'daily', 1, 'running', '', 0, 1, 'rest', 0, ${depth}, ${id}, ${person},
        'ci', 'key_1', 'rest', '', '', '{}', 0, ${ended === true ? "2026" : null}, ${retryOf}, ${parent},
        ${definition === true ? "{}" : null})`.execute(trx);
  });
  await before.close();
  const { read } = await open(stateDir);
  const rows = await read.selectFrom("runs").select(["id", "causes"]).execute();
  const who = { keyName: "ci", lineage: "key_1" };
  const causes = [
    { kind: "patched", owner: "ben", ...who, by: "patched" },
    { kind: "started", owner: "ann", ...who, by: "first" },
  ];
  const recorded = Object.fromEntries(
    rows.flatMap(({ id, causes: text }) =>
      text === null ? [] : [[id, JSON.parse(text) as unknown] as const],
    ),
  );
  const kept = [{ kind: "patched", owner: "cid", ...who, by: "kept" }];
  expect(recorded).toEqual({ patched: causes, child: causes, kept });
});

it("confirms subscriptions in the name of who last set their URL or their values, as the audit log says", async () => {
  const stateDir = temporaryDirectory();
  const confirmations = MIGRATIONS.findIndex(({ name }) => name === "subscription-confirmations");
  const before = await open(stateDir, { migrations: MIGRATIONS.slice(0, confirmations) });
  const entries = [
    ["sub_key", "create_subscription", "root@example.com", "usr_root", null],
    ["sub_key", "update_subscription", "eve@example.com", "key_eve", { changed: ["name", "url"] }],
    ["sub_key", "update_subscription", "root@example.com", "usr_root", { changed: ["events"] }],
    ["sub_made", "create_subscription", "eve@example.com", "key_eve", { name: "test", events: [] }],
    ["sub_on", "update_subscription", "ann@example.com", "usr_ann", { changed: ["includeValues"] }],
  ] as const;
  await before.transaction(async (trx) => {
    for (const id of ["sub_key", "sub_made", "sub_on", "sub_forgotten"])
      await sql`insert into subscriptions (id, project, name, format, url, events, include_values, generation, created_at,
        created_by, subject) values (${id}, 'default', 'test', 'standard_webhooks', 'https://example.com', '[]', 1, 1,
        '2026-01-01', 'root@example.com', 'root@example.com')`.execute(trx);
    for (const [index, [target, operation, owner, lineage, details]] of entries.entries())
      await sql`insert into audit_log (at, operation, target, project, owner, key_name, lineage, surface, client, details)
        values (${`2026-01-0${index + 2}`}, ${operation}, ${target}, 'default', ${owner}, 'x', ${lineage}, 'rest', '',
        ${details && JSON.stringify(details)})`.execute(trx);
  });
  await before.close();
  const { read } = await open(stateDir);
  const rows = await read
    .selectFrom("subscriptions")
    .select(["id", "confirmed_by as by", "confirmed_lineage as lineage", "confirmed_at as at"])
    .orderBy("id")
    .execute();
  expect(rows).toEqual([
    { id: "sub_forgotten", by: "root@example.com", lineage: null, at: "2026-01-01" },
    { id: "sub_key", by: "eve@example.com", lineage: "key_eve", at: "2026-01-03" },
    { id: "sub_made", by: "eve@example.com", lineage: "key_eve", at: "2026-01-05" },
    { id: "sub_on", by: "ann@example.com", lineage: null, at: "2026-01-06" },
  ]);
});
