import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HOUR } from "../../src/core/clock.ts";
import { untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { postgresStores } from "../support/postgres-stores.ts";
import { PASSWORD } from "../support/postgres.ts";
import { runCommand, runHere, spawnCommand, startProgram } from "../support/process.ts";

const { createDatabase } = postgresStores();

/** A new database, and the environment of commands whose state is in it. */
async function onPostgres() {
  const url = await createDatabase({ template: "template0" });
  const stateDir = join(temporaryDirectory(), "state");
  mkdirSync(stateDir, { mode: 0o700 });
  const passwordFile = join(stateDir, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
  const env = {
    MILLRACE_STATE_DIR: stateDir,
    MILLRACE_DATABASE_URL: url,
    MILLRACE_DATABASE_PASSWORD_FILE: passwordFile,
  };
  return { env, stateDir, url, cli: (...args: string[]) => runHere(args, env) };
}

/** Options for Node that set the clock of a process 25 hours ahead. */
const AHEAD =
  "--import=data:text/javascript,const%20now%20=%20Date.now;Date.now%20=%20()%20=>%20now()%20+%2025*3600000";

const SUM = "name: Sum\nsteps:\n  - { id: sum, type: set, values: { total: '${{ 1 + 2 }}' } }\n";

describe("commands whose state is in PostgreSQL", () => {
  it("create, change and read it, and leave no database in the state directory", async () => {
    const { cli, env, stateDir } = await onPostgres();
    const created = await cli("keys", "create", "--name", "ci");
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^mill_/) as string });
    expect((await cli("keys", "list")).out).toContain("ci");
    expect((await cli("projects", "create", "Finance")).code).toBe(0);
    expect((await cli("projects", "list")).out).toContain("finance");
    const workflows = join(stateDir, "workflows");
    mkdirSync(workflows);
    writeFileSync(join(workflows, "sum.yaml"), SUM);
    expect(await cli("workflows", "apply", workflows, "--yes")).toMatchObject({ code: 0 });
    const run = await runCommand(["run", "sum"], env);
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining("3") as string });
    expect(await cli("audit", "verify")).toMatchObject({
      code: 0,
      out: expect.stringContaining("all fit") as string,
    });
    expect(await cli("storage")).toMatchObject({ code: 0 });
    expect(readdirSync(stateDir).toSorted()).toEqual(["password", "workflows"]);
  });

  it("export and import it", async () => {
    const from = await onPostgres();
    const workflows = join(from.stateDir, "workflows");
    mkdirSync(workflows);
    writeFileSync(join(workflows, "sum.yaml"), SUM);
    expect((await from.cli("workflows", "apply", workflows, "--yes")).code).toBe(0);
    expect((await from.cli("projects", "create", "Finance")).code).toBe(0);
    const file = join(from.stateDir, "all.jsonl");
    expect(await runCommand(["export", file, "--with-audit"], from.env)).toMatchObject({ code: 0 });
    const files = join(from.stateDir, "exported");
    expect((await from.cli("workflows", "export", files)).out).toContain("1 written");
    const to = await onPostgres();
    expect(await runCommand(["import", file, "--yes"], to.env)).toMatchObject({ code: 0 });
    expect((await to.cli("projects", "list")).out).toContain("finance");
    expect((await to.cli("workflows", "export", files)).out).toContain("0 written, 1 unchanged");
  });

  it("include servers, whose executors use the same database", async () => {
    const { cli, env, stateDir } = await onPostgres();
    const key = (await cli("keys", "create", "--name", "ci", "--scope", "read", "write", "run")).out.trim();
    const server = await startProgram("serve", stateDir, { env, args: ["--metrics-port", "0"] });
    const api = apiClient(server.url, key);
    const definition = { steps: [{ id: "sum", type: "set", values: { total: "${{ 1 + 2 }}" } }] };
    expect((await api("POST", "/workflows", { name: "Sum", definition })).status).toBe(201);
    const run = await api("POST", "/workflows/sum/runs", { wait: 30 });
    expect(run.body).toMatchObject({ status: "succeeded", output: { total: 3 } });
    const metrics = /metrics available at (http:[^"\s]+)/.exec(server.log())![1]!;
    const page = await (await fetch(metrics)).text();
    expect(page).toMatch(/millrace_state_up\{[^}]*\} 1/);
    expect(page).toMatch(/millrace_state_file_bytes\{[^}]*\} [1-9]/);
    expect(page).not.toMatch(/millrace_state_free_bytes\{[^}]*\} [0-9]/);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
  });

  it("use the time of the database server when their own clock is wrong, from the first request on", async () => {
    const { cli, env, stateDir } = await onPostgres();
    const inAnHour = new Date(Date.now() + HOUR).toISOString();
    const scopes = ["--scope", "read", "write", "run"];
    const key = (await cli("keys", "create", "--name", "ci", "--expires", inAnHour, ...scopes)).out.trim();
    const server = await startProgram("serve", stateDir, { env: { ...env, NODE_OPTIONS: AHEAD } });
    const api = apiClient(server.url, key);
    const definition = { steps: [{ id: "later", type: "wait", until: inAnHour }] };
    const created = await api("POST", "/workflows", { name: "Later", definition });
    expect(created.status).toBe(201);
    expect(Date.parse(created.body.created_at)).toBeLessThan(Date.now() + HOUR);
    const run = await api("POST", "/workflows/later/runs");
    await untilPassing(async () =>
      expect((await api("GET", `/runs/${run.body.id}`)).body).toMatchObject({ status: "waiting" }),
    );
    // A run that the executor starts, and whose time it sets.
    const now = { steps: [{ id: "now", type: "set", values: { x: 1 } }] };
    await api("POST", "/workflows", { name: "Now", definition: now });
    const ended = await api("POST", "/workflows/now/runs", { wait: 30 });
    expect(ended.body).toMatchObject({ status: "succeeded" });
    expect(Date.parse(ended.body.finished_at)).toBeLessThan(Date.now() + HOUR);
    expect((await api("GET", `/runs/${run.body.id}`)).body).toMatchObject({ status: "waiting" });
    // The server and its executor.
    expect(server.log().match(/differs from that of the database server/g)).toHaveLength(2);
    await server.stop();
  });

  it("write the time of the database server when their own clock is wrong", async () => {
    const { cli, env, stateDir } = await onPostgres();
    const workflows = join(stateDir, "workflows");
    mkdirSync(workflows);
    writeFileSync(join(workflows, "sum.yaml"), SUM);
    const applied = await spawnCommand(["workflows", "apply", workflows, "--yes"], {
      ...env,
      NODE_OPTIONS: AHEAD,
    });
    expect(applied.code).toBe(0);
    const shown = JSON.parse((await cli("workflows", "show", "sum", "--json")).out) as { updated_at: string };
    expect(Date.parse(shown.updated_at)).toBeLessThan(Date.now() + HOUR);
  });

  it("say what to run instead of backup and restore", async () => {
    const { cli, stateDir } = await onPostgres();
    const backup = await cli("backup", "state copy.dump");
    expect(backup.code).toBe(2);
    expect(backup.err).toMatch(
      /pg_dump --format=custom --file='state copy.dump' --host=127.0.0.1 --port=\d+ --username=postgres/,
    );
    const file = join(stateDir, "copy.dump");
    writeFileSync(file, "");
    expect((await cli("restore", file)).err).toContain("pg_restore --exit-on-error --no-owner");
  });

  it("are checked by doctor: the server, its rights, and what is in the database", async () => {
    const { cli, env } = await onPostgres();
    type Result = { check: string; status: string; detail: string; fix?: string };
    const results = async () =>
      JSON.parse((await runCommand(["doctor", "--json", "--full"], env)).out) as Result[];
    const of = (list: Result[], name: string) => list.find(({ check }) => check === name);
    expect(of(await results(), "migrations")).toMatchObject({ status: "warning" });
    await cli("keys", "create", "--name", "ci");
    const found = await results();
    expect(of(found, "database")).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^test_\d+ at 127\.0\.0\.1:\d+, as postgres$/) as string,
    });
    expect(of(found, "version")!.detail).toMatch(/^PostgreSQL \d+/);
    expect(of(found, "privileges")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("superuser") as string,
    });
    // The servers of the tests run without fsync.
    expect(of(found, "server")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("fsync") as string,
    });
    for (const name of [
      "notifications",
      "server clock",
      "migrations",
      "time",
      "audit log",
      "stored bytes",
      "runs",
    ])
      expect(of(found, name)).toMatchObject({ status: "ok" });
    expect(found.map(({ check }) => check)).not.toContain("directory");
  });

  it("never show the password", async () => {
    const { env, url } = await onPostgres();
    const withPassword = new URL(url.replace("/test_", "/missing_"));
    withPassword.password = encodeURIComponent(PASSWORD);
    const { MILLRACE_DATABASE_PASSWORD_FILE: _, ...rest } = env;
    for (const args of [
      ["keys", "list"],
      ["doctor"],
      ["serve", "--port", "0", "--workers", "0"],
      ["worker"],
    ]) {
      const { code, out, err } = await runCommand(args, {
        ...rest,
        MILLRACE_DATABASE_URL: withPassword.href,
        MILLRACE_LOG_LEVEL: "debug",
      });
      expect(code).not.toBe(0);
      expect(out + err).toContain("The database does not exist");
      expect(out + err).not.toContain(PASSWORD);
      expect(out + err).not.toContain(encodeURIComponent(PASSWORD));
    }
  });
});
