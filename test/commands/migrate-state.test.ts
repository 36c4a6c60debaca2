import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { openInstance } from "../../src/app/instance.ts";
import { systemClock } from "../../src/core/clock.ts";
import { untilPassing } from "../support/eventually.ts";
import { databaseAt, postgresStores } from "../support/postgres-stores.ts";
import { PASSWORD } from "../support/postgres.ts";
import { runCommand } from "../support/process.ts";
import { testCli } from "../support/command-line.ts";
import { PROGRAM } from "../support/built.ts";

const { createDatabase, connect } = postgresStores();
const SUM = "name: Sum\nsteps:\n  - { id: sum, type: set, values: { total: '${{ 1 + 2 }}' } }\n";

/** A state with workflows, keys, users and runs in SQLite, and an empty database. */
async function setUp() {
  const { cli, stateDir } = await testCli({
    sum: SUM,
    "späte-summe": SUM.replace("Sum", "Späte 'Summe' \\u{1F600}"),
  });
  for (const args of [
    ["keys", "create", "--name", "ci"],
    ["projects", "create", "Finance"],
    ["users", "invite", "ann@example.com", "--role", "admin"],
    ["run", "sum"],
  ])
    expect((await cli(...args)).code).toBe(0);
  const url = await createDatabase({ template: "template0" });
  const env = { MILLRACE_STATE_DIR: stateDir, MILLRACE_DATABASE_PASSWORD: PASSWORD };
  const migrate = (...args: string[]) => runCommand(["migrate-state", "--to", url, ...args], env);
  return { cli, stateDir, url, env, migrate };
}

const openTarget = async (url: string, stateDir: string) => {
  const instance = await openInstance(
    { stateDir, database: databaseAt(url) },
    systemClock,
    pino({ level: "silent" }),
  );
  onTestFinished(() => instance.close());
  return instance;
};

describe("migrate-state", () => {
  it("copies everything, says how much of what, and closes the old state", async () => {
    const { cli, stateDir, url, env } = await setUp();
    const files = join(stateDir, "..", "exported");
    expect((await cli("workflows", "export", files)).out).toContain("2 written");
    const keys = (await cli("keys", "list")).out;
    const runs = (await cli("runs", "--json")).out;
    const withPassword = Object.assign(new URL(url), { password: PASSWORD }).href;
    const moved = await runCommand(["migrate-state", "--to", withPassword, "--json"], {
      MILLRACE_STATE_DIR: stateDir,
    });
    expect(moved.code).toBe(0);
    const { verified, tables } = JSON.parse(moved.out) as {
      verified: boolean;
      tables: { table: string; rows: number; checksum: string }[];
    };
    expect(verified).toBe(true);
    const rowsOf = (name: string) => tables.find(({ table }) => table === name)!.rows;
    expect([
      rowsOf("workflows"),
      rowsOf("runs"),
      rowsOf("users"),
      rowsOf("api_keys"),
      rowsOf("projects"),
    ]).toEqual([2, 1, 1, 1, 2]);
    expect(tables.every(({ checksum }) => /^[0-9a-f]{16}$/.test(checksum))).toBe(true);

    const there = (...args: string[]) => runCommand(args, { ...env, MILLRACE_DATABASE_URL: url });
    expect((await there("workflows", "export", files)).out).toContain("0 written, 2 unchanged");
    expect((await there("keys", "list")).out).toBe(keys);
    expect((await there("runs", "--json")).out).toBe(runs);
    expect((await there("audit", "verify")).out).toContain("all fit");
    // New rows get new ids.
    expect((await there("run", "sum")).code).toBe(0);

    const closed = await cli("keys", "list");
    expect(closed.code).not.toBe(0);
    expect(closed.err).toMatch(/It was moved to PostgreSQL \(test_\d+ at 127\.0\.0\.1:\d+\)/);
    const checked = await cli("doctor");
    expect(checked.code).toBe(3);
    expect(checked.out).toMatch(
      / error +database +the state was moved to PostgreSQL \(test_\d+ at 127\.0\.0\.1:\d+\)\n/,
    );
    expect(checked.out).not.toContain(encodeURIComponent(PASSWORD));
    expect((await runCommand(["migrate-state", "--reopen"], { MILLRACE_STATE_DIR: stateDir })).code).toBe(0);
    expect((await cli("keys", "list")).out).toBe(keys);
  });

  it("refuses a database that is in use, or that is another program's, and changes nothing", async () => {
    const { cli, stateDir, url, migrate } = await setUp();
    const target = await openTarget(url, stateDir);
    await target.store.transaction((trx) =>
      trx.insertInto("step_cache").values({ key: "a", expires_at: "2026", output: "1" }).execute(),
    );
    const refused = await migrate();
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/already holds a state \(the table step_cache has rows\)/);
    expect((await cli("keys", "list")).code).toBe(0);
    const client = await connect(url);
    await client.query("drop schema public cascade; create schema public; create table orders (id int)");
    expect((await migrate()).err).toContain("tables of another program");
  });

  it("refuses while a process has the state open", async () => {
    const { cli, migrate, env } = await setUp();
    const server = spawn(process.execPath, [PROGRAM, "mcp-sse", "--port", "0", "--workers", "0"], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (chunk: string) => (log += chunk));
    await untilPassing(() => expect(log).toContain("listening"));
    const refused = await migrate();
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("Another process has the state open. Nothing was changed.");
    server.kill("SIGKILL");
    await once(server, "exit");
    expect((await migrate()).code).toBe(0);
    expect((await cli("keys", "list")).code).not.toBe(0);
  });

  it("is repeated after it was killed in the middle, and after the copy", async () => {
    const { stateDir, url, env, migrate } = await setUp();
    const target = await openTarget(url, stateDir);
    const client = await connect(url);
    // It stops at this table, which comes late.
    await client.query("begin; lock table workflows in access exclusive mode");
    const child = spawn(process.execPath, [PROGRAM, "migrate-state", "--to", url], {
      env: { ...process.env, ...env },
      stdio: "ignore",
    });
    const observer = await connect(url);
    await untilPassing(async () => {
      const { rows } = await observer.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      expect(rows).toHaveLength(1);
    });
    child.kill("SIGKILL");
    await once(child, "exit");
    await client.query("rollback");
    expect(await target.store.read.selectFrom("api_keys").select("id").execute()).toEqual([]);
    expect((await migrate()).code).toBe(0);
    expect(await target.store.read.selectFrom("api_keys").select("id").execute()).toHaveLength(1);
    // As if it had been killed before it closed the old state.
    await runCommand(["migrate-state", "--reopen"], { MILLRACE_STATE_DIR: stateDir });
    expect(await migrate()).toMatchObject({ code: 0 });
    expect(await target.store.read.selectFrom("api_keys").select("id").execute()).toHaveLength(1);
  });
});
