import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { backup } from "../../src/commands/backup.ts";
import { explain, type Io } from "../../src/commands/io.ts";
import { restore } from "../../src/commands/restore.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { eventually } from "../support/eventually.ts";
import { api } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { holdLock } from "../support/lock.ts";
import { oldState } from "../support/old-state.ts";
import { addUser, signIn } from "../support/people.ts";
import { run } from "../support/process.ts";
import { JOURNALS } from "../support/store.ts";
import { verifyState } from "../support/verify-state.ts";
import packageJson from "../../package.json" with { type: "json" };

const BIN = fileURLToPath(new URL("../../bin/millrace.js", import.meta.url));

/** What a command says and ends with, in this process: processes of their own are tried below. */
async function said(
  command: typeof backup,
  stateDir: string,
  file: string,
  options: { json?: boolean } = {},
) {
  let [out, err, code] = ["", "", 0];
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    terminal: false,
    errTerminal: false,
    env: { MILLRACE_STATE_DIR: stateDir },
    onExit: () => {},
  };
  await command(io, { onStop: () => {} }, file, options).catch((error: unknown) => {
    const told = explain(error);
    err += `${told.message}\n`;
    code = told.exitCode;
  });
  return { code, out, err };
}

const open = (file: string): Database.Database => new Database(file, { fileMustExist: true });

function change(file: string, work: (db: Database.Database) => void): void {
  const db = open(file);
  work(db);
  db.close();
}

function ask<T>(stateDir: string, query: string): T[] {
  const db = open(join(stateDir, "millrace.db"));
  const rows = db.prepare(query).all() as T[];
  db.close();
  return rows;
}

/** A state with one workflow, and a directory for what is made of it. */
async function state() {
  const instance = await testInstance();
  const { value } = await instance.key();
  const rest = await instance.rest();
  const call = api(rest.url, value);
  await call("POST", "/workflows", { name: "Weekly revenue", description: "first" });
  const directory = temporaryDirectory();
  return {
    instance,
    stateDir: instance.stateDir,
    rest,
    call,
    key: value,
    directory,
    file: join(directory, "m.db"),
  };
}

/** A state that nobody has open, and a backup of it. */
async function backedUp() {
  const stateDir = oldState(1);
  const directory = temporaryDirectory();
  const file = join(directory, "m.db");
  expect(await said(backup, stateDir, file)).toMatchObject({ code: 0 });
  return { stateDir, directory, file, elsewhere: join(directory, "state") };
}

describe("millrace backup", () => {
  it("makes one verified file for this user alone while others write, and says what is not in it", async () => {
    const { call, stateDir, file, directory } = await state();
    const acknowledged: string[] = [];
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing; i += 1) {
        await call("POST", "/workflows", { name: `W${i}`, description: "x" });
        acknowledged.push(`W${i}`);
      }
    })();
    await eventually(() => (acknowledged.length > 2 ? true : undefined), "writes");
    const before = [...acknowledged];
    const { code, out, err } = await said(backup, stateDir, file, { json: true });
    const after = acknowledged.length;
    writing = false;
    await writer;
    expect(code).toBe(0);
    expect(after).toBeGreaterThan(before.length);
    expect(err).toMatch(
      /^Not in it: the configuration \(.*config\.yaml\), the variables or files with secrets, /,
    );
    expect(readdirSync(directory)).toEqual(["m.db"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const told = JSON.parse(out) as { rows: Record<string, number> };
    expect(told).toMatchObject({
      file,
      bytes: statSync(file).size,
      verified: true,
      made_by: packageJson.version,
      migration: MIGRATIONS.at(-1)!.id,
      rows: { users: 0, api_keys: 1, unfinished_runs: 0 },
    });
    const copy = temporaryDirectory();
    cpSync(file, join(copy, "millrace.db"));
    const names = verifyState(copy).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Weekly revenue", ...before]));
    expect(told.rows["workflows"]).toBe(names.length);
  });

  it.each(JOURNALS)("changes nothing in the state, its journal included (%s)", async (_, local) => {
    const { stateDir } = await testInstance({ local });
    const before = ask(stateDir, "select name, value from settings order by name");
    const { code, out } = await said(backup, stateDir, join(temporaryDirectory(), "m.db"));
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/ MiB in .* s, verified\. It holds\n/),
    });
    expect(ask(stateDir, "select name, value from settings order by name")).toEqual(before);
    expect(ask(stateDir, "pragma journal_mode")).toEqual([{ journal_mode: local ? "wal" : "delete" }]);
  });

  it("takes the state of an older release as it is", async () => {
    const stateDir = oldState(1);
    const file = join(temporaryDirectory(), "m.db");
    expect(JSON.parse((await said(backup, stateDir, file, { json: true })).out)).toMatchObject({
      migration: 1,
    });
    expect(ask(stateDir, "select max(id) as id from migrations")).toEqual([{ id: 1 }]);
    expect(readdirSync(stateDir)).toEqual(["millrace.db"]);
  });

  it.each<[string, number, (places: { stateDir: string; directory: string }) => string, RegExp]>([
    [
      "a file that is there",
      2,
      ({ directory }) => (writeFileSync(join(directory, "x"), "mine"), join(directory, "x")),
      /x is there already, and a backup replaces nothing/,
    ],
    ["a directory", 2, ({ directory }) => directory, /is a directory: name a file in it/],
    [
      "the database itself",
      2,
      ({ stateDir }) => join(stateDir, "millrace.db"),
      /belongs to the database itself/,
    ],
    [
      "a journal of the database",
      2,
      ({ stateDir }) => join(stateDir, "x/../millrace.db-journal"),
      /belongs to the database itself/,
    ],
    ["standard output", 2, () => "-", /Name a file/],
    [
      "a directory that is not there",
      1,
      ({ directory }) => join(directory, "no/m.db"),
      /There is no directory .*no. Make it/,
    ],
  ])("refuses %s, and makes nothing", async (_, expected, target, words) => {
    const stateDir = oldState(1);
    const directory = temporaryDirectory();
    const file = target({ stateDir, directory });
    const present = () => [readdirSync(stateDir), readdirSync(directory)];
    const before = present();
    const { code, out, err } = await said(backup, stateDir, file);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toMatch(words);
    expect(present()).toEqual(before);
    if (_ === "a file that is there") expect(readFileSync(file, "utf8")).toBe("mine");
  });

  it.each<[string, (directory: string) => void, RegExp]>([
    ["there is none", () => {}, /There is no state in .* to back up. Point MILLRACE_STATE_DIR/],
    [
      "it is another program's",
      (path) => new Database(join(path, "millrace.db")).exec("create table t (a)").close(),
      /is that of another program/,
    ],
    [
      "it is empty",
      (path) => new Database(join(path, "millrace.db")).exec("vacuum").close(),
      /is empty: Millrace was never started on it/,
    ],
    ["it is damaged", (path) => damage(path), /is damaged|malformed/],
  ])("ends with 4 where a state can't be copied: %s", async (_, prepare, words) => {
    const stateDir = temporaryDirectory();
    prepare(stateDir);
    const before = readdirSync(stateDir);
    const directory = temporaryDirectory();
    const { code, out, err } = await said(backup, stateDir, join(directory, "m.db"));
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toMatch(words);
    expect([readdirSync(stateDir), readdirSync(directory)]).toEqual([before, []]);
  });

  it("removes what a killed one has left, and leaves what another still writes to", async () => {
    const { stateDir, directory } = await backedUp();
    const file = join(directory, "next.db");
    for (const left of [
      "next.db.partial-0123abcd",
      "next.db.partial-0123abcd-journal",
      "other.db.partial-0123abcd",
    ])
      writeFileSync(join(directory, left), "half a database");
    const busy = new Database(join(directory, "next.db.partial-89abcdef"));
    busy.exec("create table t (a); begin immediate");
    expect(await said(backup, stateDir, file)).toMatchObject({ code: 0 });
    const left = ["m.db", "next.db", "other.db.partial-0123abcd"];
    expect(readdirSync(directory).filter((name) => !name.endsWith("-journal"))).toEqual(
      [...left, "next.db.partial-89abcdef"].toSorted(),
    );
    busy.close();
    expect(await said(backup, stateDir, join(directory, "next.db"))).toMatchObject({ code: 2 });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("ends soon on %s, and leaves nothing", async (signal) => {
    const stateDir = oldState(1);
    change(join(stateDir, "millrace.db"), (db) => db.pragma("journal_mode = delete"));
    // Nobody can read now: it waits.
    holdLock(stateDir);
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, [BIN, "backup", join(directory, "m.db")], {
      env: { ...process.env, MILLRACE_STATE_DIR: stateDir },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
    const exited = once(child, "close") as Promise<[number | null]>;
    await eventually(() => (childrenOf(child.pid!).length > 0 ? true : undefined), "the copying child");
    const [copying] = childrenOf(child.pid!);
    child.kill(signal);
    expect((await exited)[0]).toBe(1);
    expect(err).toBe("It was stopped; nothing was made.\n");
    expect(existsSync(`/proc/${copying}`)).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });
});

function childrenOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  } catch {
    return [];
  }
}

/** A state whose pages were overwritten in the middle. */
function damage(stateDir: string): void {
  const file = join(stateDir, "millrace.db");
  cpSync(join(oldState(1), "millrace.db"), file);
  spoil(file);
}

function spoil(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 8 * 4096, 14 * 4096);
  writeFileSync(file, bytes);
}

describe("millrace restore", () => {
  it("brings the state back where there is none, and the next start migrates it", async () => {
    const { file, elsewhere } = await backedUp();
    const { code, out, err } = await said(restore, elsewhere, file);
    expect(code).toBe(0);
    expect(out).toContain(`restored from ${file}, made `);
    expect(out).toContain(`The next start brings it from migration 1 to ${MIGRATIONS.at(-1)!.id}.`);
    expect(err).toMatch(/^API keys, people and roles are as they were then/);
    expect([statSync(elsewhere).mode & 0o777, statSync(join(elsewhere, "millrace.db")).mode & 0o777]).toEqual(
      [0o700, 0o600],
    );
    expect(readdirSync(elsewhere)).toEqual(["millrace.db"]);
    expect(ask(elsewhere, "select name from settings")).toEqual([{ name: "cursor_key" }]);
    const instance = await testInstance({ stateDir: elsewhere });
    expect(await instance.read.workflows.count({})).toBe(2);
    expect(instance.store.journalMode).toBe("wal");
  });

  it("ends logins, links that work once and MCP sessions, and keeps keys and people", async () => {
    const { instance, stateDir, rest, key, file, directory } = await state();
    await addUser(instance, "ann@example.com", "admin");
    const ann = await signIn(rest.url, "ann@example.com");
    change(join(stateDir, "millrace.db"), (db) => {
      db.exec(`
        insert into account_links (digest, kind, user_id, created_at) values (x'01', 'setup', null, '2026-01-01');
        insert into mcp_sessions values ('s', 'key', 'http', null, '2026-01-01');
        insert into mcp_messages (session_id, body, created_at) values ('s', '{}', '2026-01-01');
        insert into sessions (id, digest, user_id, created_at, seen_at, expires_at, client, address, external, sealed)
          select 'ses_elsewhere', x'02', id, '2026-01-01', '2026-01-01', '2027-01-01', '', '', 1, x'03' from users;`);
    });
    expect(await said(backup, stateDir, file)).toMatchObject({ code: 0 });
    const elsewhere = join(directory, "state");
    const { out } = await said(restore, elsewhere, file, { json: true });
    const told = JSON.parse(out) as { made_at: string };
    expect(told).toMatchObject({ ended: { sessions: 2, links: 1, mcp_sessions: 1, jobs: 0 } });
    const count = (table: string) =>
      ask<{ n: number }>(elsewhere, `select count(*) as n from ${table}`)[0]!.n;
    expect(["account_links", "mcp_sessions", "mcp_messages", "users", "api_keys"].map(count)).toEqual([
      0, 0, 0, 1, 1,
    ]);
    // One kept elsewhere goes on there: its row must say that it has ended.
    const [login, ...more] = ask<object>(elsewhere, "select id, ended_at, sealed from sessions");
    expect([login, more]).toEqual([{ id: "ses_elsewhere", ended_at: expect.any(String), sealed: null }, []]);
    expect(ask(elsewhere, "select operation, target, owner from audit_log order by id desc limit 1")).toEqual(
      [{ operation: "restore_backup", target: told.made_at, owner: "operator" }],
    );
    const restored = await testInstance({ stateDir: elsewhere });
    const again = await restored.rest();
    expect((await api(again.url, key)("GET", "/workflows")).body).toMatchObject([{ id: "weekly-revenue" }]);
    expect((await api(again.url)("GET", "/session", undefined, { Cookie: ann.cookie })).status).toBe(401);
    expect((await api(rest.url)("GET", "/session", undefined, { Cookie: ann.cookie })).status).toBe(200);
    await signIn(again.url, "ann@example.com");
  });

  it("gives lists an ETag that nobody has seen", async () => {
    const { call, key, stateDir, file, directory } = await state();
    expect(await said(backup, stateDir, file)).toMatchObject({ code: 0 });
    await call("POST", "/workflows", { name: "Lost", description: "" });
    const lost = (await call("GET", "/workflows")).headers.get("etag")!;
    const elsewhere = join(directory, "state");
    expect(await said(restore, elsewhere, file)).toMatchObject({ code: 0 });
    const again = api((await (await testInstance({ stateDir: elsewhere })).rest()).url, key);
    await again("POST", "/workflows", { name: "Another", description: "" });
    expect((await again("GET", "/workflows", undefined, { "If-None-Match": lost })).status).toBe(200);
  });

  it("frees the jobs of executors that are no more, and suspects none of them", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "m.db");
    expect(await said(backup, oldState(2), file)).toMatchObject({ code: 0 });
    const elsewhere = join(directory, "state");
    expect(JSON.parse((await said(restore, elsewhere, file, { json: true })).out)).toMatchObject({
      ended: { jobs: 1 },
    });
    expect(ask(elsewhere, "select id from executors")).toEqual([]);
    expect(
      ask(
        elsewhere,
        "select state, executor, attempt, tries, fence, suspect, kills from jobs where kind = 'step'",
      ),
    ).toEqual([{ state: "ready", executor: null, attempt: 2, tries: 1, fence: 2, suspect: 0, kills: 0 }]);
    expect(
      ask(
        elsewhere,
        "select status, item from run_attempts where finished_at is not null and status <> 'succeeded'",
      ),
    ).toEqual([{ status: "interrupted", item: 2 }]);
  });

  it.each(["", "-wal", "-shm", "-journal"])(
    "refuses where there is a millrace.db%s, and changes nothing",
    async (suffix) => {
      const { file, elsewhere } = await backedUp();
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, `millrace.db${suffix}`), "mine");
      const { code, out, err } = await said(restore, elsewhere, file);
      expect({ code, out }).toEqual({ code: 4, out: "" });
      expect(err).toContain(`Stop Millrace, move ${join(elsewhere, `millrace.db${suffix}`)} away`);
      expect(readFileSync(join(elsewhere, `millrace.db${suffix}`), "utf8")).toBe("mine");
      expect(readdirSync(elsewhere)).toHaveLength(1);
    },
  );

  it.each<[string, number, (file: string) => void, RegExp]>([
    ["is damaged", 4, spoil, /m\.db is damaged: .*Restore the newest backup that is not|malformed/],
    ["was cut off", 4, (file) => truncateSync(file, statSync(file).size - 3 * 4096), /damaged/],
    ["is no database", 4, (file) => writeFileSync(file, "text ".repeat(2_000)), /not a Millrace database/],
    [
      "is another program's",
      4,
      (file) => change(file, (db) => db.pragma("application_id = 7")),
      /m\.db is that of another program/,
    ],
    [
      "refers to what is not there",
      4,
      (file) => change(file, (db) => db.pragma("foreign_keys = off") && db.exec("delete from workflows")),
      /rows of workflow_versions refer to what is not there/,
    ],
    [
      "is of a newer release",
      4,
      (file) =>
        change(file, (db) =>
          db.exec(
            "insert into migrations values (99, 'x', 99, 'x'); insert into settings values ('release', '7.8.9')",
          ),
        ),
      /m\.db was written by a newer release of Millrace, 7\.8\.9 .* Start 7\.8\.9 or a newer one/,
    ],
    ["is not there", 2, () => {}, /is not a file. Name the backup/],
  ])("refuses a backup that %s, and makes nothing", async (name, expected, ruin, words) => {
    const { file, elsewhere } = await backedUp();
    ruin(file);
    const source = name === "is not there" ? `${file}.no` : file;
    const { code, out, err } = await said(restore, elsewhere, source);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toMatch(words);
    expect(existsSync(elsewhere) ? readdirSync(elsewhere) : []).toEqual([]);
  });

  it("works on the command line, with what a backup printed", async () => {
    const { stateDir, directory } = await backedUp();
    const file = join(directory, "cli.db");
    const made = await run(["backup", file], { MILLRACE_STATE_DIR: stateDir });
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^.*cli\.db: 0\.\d MiB in \d+\.\d s, verified/),
    });
    const env = { MILLRACE_STATE_DIR: join(directory, "cli") };
    expect(await run(["restore", file], env)).toMatchObject({ code: 0 });
    expect(await run(["restore", file], env)).toMatchObject({ code: 4, out: "" });
    expect(JSON.parse((await run(["keys", "list", "--json"], env)).out)).toHaveLength(5);
  });
});
