import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runInChild } from "../../src/commands/doctor/parts.ts";
import { checkLocks } from "../../src/commands/doctor/locks.ts";
import { checkIntegrity, checkState } from "../../src/commands/doctor/state.ts";
import { runCheck, type CheckResult } from "../../src/commands/doctor/check-result.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import type { Job } from "../../src/core/model.ts";
import { engineTransaction } from "../../src/store/engine-transaction.ts";
import { fakeClock, temporaryDirectory, testInstance } from "../support/instance.ts";
import { sendJson, mockHttpServer } from "../support/mock-http-server.ts";
import { addUser } from "../support/users.ts";
import { jobWriter } from "../../src/store/jobs.ts";
import { noWork } from "../../src/store/store.ts";
import type { Schema } from "../../src/store/schema.ts";
import { freePort, type Postgres, startPostgres } from "../support/postgres.ts";
import { runCommand } from "../support/process.ts";
import { smtpPeer } from "../support/mock-smtp-server.ts";
import packageJson from "../../package.json" with { type: "json" };

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
  const owner = await postgres.connect();
  await owner.query("create table orders (id int); create role reader login password 'reads only'");
  await owner.query(
    "create role writer login password 'writes too'; grant select on orders to reader, writer",
  );
  await owner.query("grant insert on orders to writer; revoke create on schema public from public");
  await owner.end();
});
afterAll(() => postgres.stop());

/** Free ports, so that the check finds no other programs of this machine. */
async function doctor(env: Record<string, string>, ...args: string[]) {
  const ports = ["--port", String(await freePort()), "--mcp-port", String(await freePort())];
  const { code, out, err } = await runCommand(["doctor", "--json", ...ports, ...args], env);
  const results = out === "" ? [] : (JSON.parse(out) as CheckResult[]);
  return { code, out, err, results, of: (check: string) => results.filter((one) => one.check === check) };
}

async function stateOf(path: string, uid = process.getuid?.()): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  await checkState(path, uid, (one) => void results.push(one));
  return results;
}

/** Returns the names, sizes, times and bytes of all files, to check that nothing changed. */
const picture = (directory: string) =>
  readdirSync(directory).map((name) => {
    const { size, mtimeMs, mode } = statSync(join(directory, name));
    return { name, size, mtimeMs, mode, bytes: readFileSync(join(directory, name)).toString("base64") };
  });

const mail = (port: number): string =>
  `authentication:\n  basic: { smtp_user: mill@example.com, smtp_password_var: MAIL_SECRET, smtp_server: 127.0.0.1, smtp_port: ${port} }\n`;

/** Reports the given result in place of a second process. */
const contender = (...reports: object[]) =>
  async function* () {
    yield* reports;
  };

/** A child that never answers simulates a file system that hangs. */
const sleeper = () =>
  spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });

describe("millrace doctor", () => {
  it("finds nothing wrong with a fresh installation, and changes nothing in it", async () => {
    const { stateDir, store, ...instance } = await testInstance();
    await addUser({ stateDir, store, ...instance }, { role: "admin" });
    await instance.close();
    const before = picture(stateDir);
    const { code, results, of, err } = await doctor({ MILLRACE_STATE_DIR: stateDir });
    expect(results.filter(({ status }) => status === "error")).toEqual([]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(of("locks")).toMatchObject([
      { status: "ok", detail: expect.stringContaining("between processes") },
    ]);
    expect(of("integrity")).toMatchObject([{ status: "ok" }]);
    expect(of("admins")).toMatchObject([{ status: "ok", detail: "1 active admin" }]);
    expect(of("per_key.unfinished_runs")).toMatchObject([
      { group: "Limits", status: "ok", detail: expect.stringMatching(/^20,000 .*\(default\)$/) },
    ]);
    expect(of("min_schedule_interval")).toMatchObject([{ detail: "1m" }]);
    expect(picture(stateDir)).toEqual(before);
  });

  it("creates no state directory, and reports that there is none yet", async () => {
    const stateDir = join(temporaryDirectory(), "state");
    const { code, of } = await doctor({ MILLRACE_STATE_DIR: stateDir });
    expect(code).toBe(0);
    expect(of("directory")).toMatchObject([
      { status: "warning", fix: expect.stringContaining("Start Millrace once") },
    ]);
    expect(existsSync(stateDir)).toBe(false);
  });

  it("tests databases, models, MCP servers and mail as steps do, and prints no secrets", async () => {
    const directory = temporaryDirectory();
    const peer = await smtpPeer();
    const refusing = new SMTPServer({
      logger: false,
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(new Error("no")),
    });
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => refusing.close(() => resolve())));
    const model = await mockHttpServer((_request, response) =>
      sendJson(response, { error: { message: "no" } }, 401),
    );
    const closed = await freePort();
    const config = `databases:
  - { name: careful, type: postgresql, dataset: "${postgres.url("postgres", "reader")}", password_var: READER_SECRET }
  - { name: careless, type: postgresql, dataset: "${postgres.url("postgres", "writer")}", password_var: WRITER_SECRET }
  - { name: almighty, type: postgresql, dataset: "${postgres.url()}", password_var: OWNER_SECRET }
  - { name: mistyped, type: postgresql, dataset: "${postgres.url("postgres", "reader")}", password_var: WRONG_SECRET }
  - { name: away, type: postgresql, dataset: "postgresql://reader@127.0.0.1:${closed}/postgres", password_var: READER_SECRET }
  - { name: unset, type: postgresql, dataset: "${postgres.url()}", password_var: NO_SUCH_SECRET }
models:
  - { name: near, vendor: openai-compatible, model_ref: m, base_url: "${model.url}/v1", key_var: MODEL_SECRET }
  - { name: far, vendor: openai-compatible, model_ref: m, base_url: "http://127.0.0.1:${closed}/v1", key_var: MODEL_SECRET }
mcp_servers:
  - { name: gone, command: /no/such/program }
`;
    const env = {
      MILLRACE_STATE_DIR: join(directory, "state"),
      MILLRACE_CONFIG: join(directory, "config.yaml"),
      READER_SECRET: "reads only",
      WRITER_SECRET: "writes too",
      OWNER_SECRET: postgres.password,
      WRONG_SECRET: "mistyped-secret",
      MODEL_SECRET: "model-secret",
      MAIL_SECRET: "mail-secret",
    };
    writeFileSync(env.MILLRACE_CONFIG, config + mail(peer.port));
    const { code, of, out } = await doctor(env);
    expect(code).toBe(3);
    expect(of("database careful")).toMatchObject([{ status: "ok" }]);
    expect(of("database careless")).toMatchObject([
      {
        status: "warning",
        detail: expect.stringContaining("1 table or view"),
        fix: expect.stringContaining("SELECT"),
      },
    ]);
    expect(of("database almighty")).toMatchObject([
      { status: "warning", detail: expect.stringContaining("it is a superuser") },
    ]);
    for (const name of ["mistyped", "away"])
      expect(of(`database ${name}`)).toMatchObject([{ status: "error", fix: expect.stringMatching(/\w/) }]);
    expect(of("database unset")).toMatchObject([
      { status: "warning", detail: expect.stringContaining("NO_SUCH_SECRET") },
    ]);
    expect(of("model near")).toMatchObject([{ status: "ok" }]);
    expect(of("model far")).toMatchObject([{ status: "error" }]);
    expect(of("MCP server gone")).toMatchObject([{ status: "error" }]);
    expect(of("mail")).toMatchObject([{ status: "ok" }]);
    expect([peer.received, model.received]).toEqual([[], []]);

    writeFileSync(env.MILLRACE_CONFIG, config + mail((refusing.server.address() as AddressInfo).port));
    const called = await doctor(env, "--call-models");
    expect(called.of("model near")).toMatchObject([
      { status: "error", detail: expect.stringContaining("does not accept its key") },
    ]);
    expect(model.received).toHaveLength(1);
    expect(called.of("mail")).toMatchObject([
      { status: "error", detail: expect.stringContaining("refused the user and password") },
    ]);
    const secrets = Object.entries(env).filter(([name]) => name.endsWith("_SECRET"));
    for (const [, secret] of secrets) expect(out + called.out).not.toContain(secret);
  });

  it("reports a missing state as an error if a running server cannot reach it", async () => {
    const unavailable = await mockHttpServer((_request, response) =>
      sendJson(response, { status: "unavailable", version: packageJson.version, detail: "It is gone." }, 503),
    );
    const stateDir = temporaryDirectory();
    const port = String(unavailable.port);
    const gone = { status: "error", fix: expect.stringContaining("restore a backup") };
    const inside = await doctor({ MILLRACE_STATE_DIR: stateDir }, "--port", port);
    expect(inside.code).toBe(3);
    expect(inside.of("database")).toMatchObject([gone]);
    expect(inside.of(`port ${port}`)).toMatchObject([
      { status: "warning", fix: expect.not.stringContaining("about to end") },
    ]);
    const all = await doctor({ MILLRACE_STATE_DIR: join(stateDir, "no") }, "--mcp-port", port);
    expect(all.of("directory")).toMatchObject([gone]);
  });

  it("does not mention links and passwords if people sign in through a provider", async () => {
    const { stateDir, close } = await testInstance();
    await close();
    const { of, out } = await doctor({ MILLRACE_STATE_DIR: stateDir }, "--auth-mode", "oidc");
    expect(of("admins")).toMatchObject([
      { status: "warning", fix: expect.stringContaining("MILLRACE_ADMIN_EMAILS") },
    ]);
    expect(out).not.toMatch(/password|invite|\blinks?\b/);
  });

  it("reports which program listens on a port", async () => {
    const { rest, stateDir } = await testInstance();
    const { port } = await rest();
    const old = await mockHttpServer((_request, response) =>
      sendJson(response, { status: "ok", version: "0.0.9" }),
    );
    const env = { MILLRACE_STATE_DIR: stateDir };
    const ours = await doctor(env, "--port", String(port), "--mcp-port", String(old.port));
    expect(ours.of(`port ${port}`)).toMatchObject([
      { status: "ok", detail: `Millrace ${packageJson.version} listens there and is healthy` },
    ]);
    expect(ours.of(`port ${old.port}`)).toMatchObject([
      { status: "warning", detail: expect.stringContaining("0.0.9") },
    ]);
    const mute = createServer((socket) => socket.end("no HTTP\r\n")).listen(0, "127.0.0.1");
    await new Promise((resolve) => mute.once("listening", resolve));
    onTestFinished(() => void mute.close());
    const taken = String((mute.address() as AddressInfo).port);
    const theirs = await runCommand(["doctor", "--port", taken, "--mcp-port", String(await freePort())], env);
    expect(theirs.code).toBe(3);
    expect(theirs.out).toMatch(
      new RegExp(` error +port ${taken} +used by another program\n +Stop the program that listens there`),
    );
  });
});

describe("the state checks of doctor", () => {
  it.each([
    [0o755, "warning", "other users can access"],
    [0o777, "error", "all users can write"],
  ] as const)("reports a directory with mode %o", async (mode, status, detail) => {
    const path = temporaryDirectory();
    chmodSync(path, mode);
    expect(await stateOf(path)).toContainEqual(
      expect.objectContaining({ check: "directory", status, detail: expect.stringContaining(detail) }),
    );
  });

  it("reports a directory of another user, a file in its place, and a directory that is not writable", async () => {
    const path = temporaryDirectory();
    expect(await stateOf(path, 4_711)).toContainEqual(
      expect.objectContaining({
        check: "directory",
        status: "warning",
        detail: expect.stringContaining("4711"),
      }),
    );
    writeFileSync(join(path, "file"), "");
    expect(await stateOf(join(path, "file"))).toMatchObject([
      { check: "directory", status: "error", detail: expect.stringContaining("a file where the directory") },
    ]);
    // Even root cannot create a file there.
    const locks = await checkLocks("/proc", () => {
      throw new Error("no second process is needed");
    });
    expect(locks).toMatchObject({ status: "error", fix: expect.stringContaining("read-only") });
  });

  it("reports the database of another program, a damaged one and one of a newer release, and changes none of them", async () => {
    const foreign = temporaryDirectory();
    new Database(join(foreign, "millrace.db")).exec("create table theirs (a)").close();
    const damaged = temporaryDirectory();
    writeFileSync(join(damaged, "millrace.db"), "no database at all".repeat(1_000), { mode: 0o600 });
    const newer = await testInstance();
    await newer.store.transaction((trx) =>
      trx
        .insertInto("migrations")
        .values({ id: 9_999, name: "to come", requires: 9_999, applied_at: iso(0) })
        .execute(),
    );
    const before = [foreign, damaged].map(picture);
    expect(await stateOf(foreign)).toContainEqual(
      expect.objectContaining({
        status: "error",
        detail: expect.stringContaining("belongs to another program"),
      }),
    );
    expect(await checkIntegrity(foreign, false)).toBeUndefined();
    expect(await stateOf(damaged)).toContainEqual(
      expect.objectContaining({ check: "database", status: "error" }),
    );
    expect(await stateOf(newer.stateDir)).toContainEqual(
      expect.objectContaining({ status: "error", detail: expect.stringContaining("newer release") }),
    );
    expect([foreign, damaged].map(picture)).toEqual(before);
  });

  it("does not migrate an older database, and says that the next start does", async () => {
    const path = temporaryDirectory();
    const db = new Database(join(path, "millrace.db"));
    db.exec("create table migrations (id integer, name text, requires integer, applied_at text)");
    db.exec("pragma application_id = 0x4d494c4c; insert into migrations values (1, 'first', 1, '')");
    db.close();
    expect(await stateOf(path)).toContainEqual(
      expect.objectContaining({
        check: "migrations",
        status: "warning",
        fix: expect.stringContaining("backup"),
      }),
    );
    const after = new Database(join(path, "millrace.db"), { readonly: true });
    onTestFinished(() => void after.close());
    expect(after.prepare("select max(id) from migrations").pluck().get()).toBe(1);
  });

  it("finds damaged pages", async () => {
    const { stateDir, store } = await testInstance();
    await store.transaction((trx) =>
      trx
        .insertInto("settings")
        .values(Array.from({ length: 500 }, (_, n) => ({ name: `n${n}`, value: "x".repeat(500) })))
        .execute(),
    );
    await store.close();
    expect(await checkIntegrity(stateDir, true)).toMatchObject({ status: "ok" });
    const file = join(stateDir, "millrace.db");
    const bytes = readFileSync(file);
    bytes.fill(0xee, bytes.length - 40_000, bytes.length - 8_000);
    writeFileSync(file, bytes);
    expect(await checkIntegrity(stateDir, false)).toMatchObject({ status: "error", check: "integrity" });
  });

  it("reports times in the future, expiring keys, a missing admin, waiting jobs without an executor, and stuck runs", async () => {
    const clock = fakeClock(Date.now() + DAY);
    const instance = await testInstance({ clock });
    const { stateDir, store, key } = instance;
    await addUser(instance, { role: "editor" });
    await key({ name: "soon", expiresAt: iso(Date.now() + 3 * DAY) });
    await key({ name: "later", expiresAt: iso(Date.now() + 300 * DAY) });
    // The expiry of a rotated key is expected.
    await key({ name: "old", expiresAt: iso(Date.now() + 3 * DAY) });
    clock.advance(1_000);
    await key({ name: "successor" });
    await store.transaction((trx) =>
      trx.updateTable("api_keys").set({ lineage: "one" }).where("name", "in", ["old", "successor"]).execute(),
    );
    const created = iso(Date.now() - DAY);
    await store.transaction(async (trx) => {
      const workflow = { name: "w", name_key: "w", description: "", tags: "[]", search_text: "w" };
      await trx
        .insertInto("workflows")
        .values({
          id: "w",
          ...workflow,
          status: "draft",
          version: 1,
          published_version: null,
          created_at: created,
          updated_at: created,
          created_by: "operator",
        })
        .execute();
      const runNamed = (id: string): Omit<Schema["runs"], "subject"> => ({
        state: null,
        state_revision: null,
        committed: null,
        trial: null,
        causes: null,
        backfill: null,
        replay: null,
        stored_bytes: 0,
        project: "default",
        id,
        first_run: id,
        workflow_id: "w",
        version: 1,
        definition: null,
        status: "running",
        states: "r",
        seq: 1,
        admitted: 1,
        stop: null,
        on_failure: null,
        trigger: "rest",
        priority: 0,
        depth: 0,
        retry_of: null,
        parent_run: null,
        parent_step: null,
        parent_item: null,
        scheduled_for: null,
        facts: null,
        pins: null,
        trace: null,
        owner: "operator",
        key_name: "ci",
        lineage: "x",
        surface: "rest",
        client: "curl",
        created_at: created,
        started_at: created,
        finished_at: null,
        error: null,
        inputs: "{}",
        output: null,
      });
      await trx
        .insertInto("runs")
        .values([runNamed("run_stuck"), runNamed("run_ready")])
        .execute();
      await jobWriter(trx, clock, noWork()).add({
        kind: "step",
        priority: 0,
        dueAt: null,
        runId: "run_ready",
        stepId: "a",
        item: null,
        resource: null,
        attempt: 1,
        retryCount: 0,
      });
    });
    const results = await stateOf(stateDir);
    const of = (check: string) => results.find((result) => result.check === check);
    expect(of("time")).toMatchObject({ status: "error", fix: expect.stringContaining("NTP") });
    expect(of("admins")).toMatchObject({ status: "error", fix: expect.stringContaining("users role") });
    expect(of("API keys")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("soon of operator"),
    });
    expect(of("API keys")!.detail).not.toMatch(/later|old/);
    expect(of("executors")).toMatchObject({
      status: "error",
      detail: expect.stringContaining("jobs are waiting"),
    });
    expect(of("runs")).toMatchObject({ status: "error", detail: expect.stringMatching(/: run_stuck$/) });
  });

  it("waits for the heartbeats of executors", async () => {
    const { stateDir, executor } = await testInstance();
    await executor();
    expect(await stateOf(stateDir)).toContainEqual(
      expect.objectContaining({ check: "executors", status: "ok", detail: "1, all send heartbeats" }),
    );
  });

  it("finds claims that their executor does not report as running", async () => {
    const { stateDir, store, clock } = await testInstance();
    const transaction = engineTransaction(store, clock);
    const at = iso(clock.now());
    let running: Pick<Job, "id" | "fence">[] = [];
    const beat = () => transaction((tx) => tx.jobs.heartbeat("exe_1", at, { running }));
    await transaction((tx) =>
      tx.jobs.add({
        kind: "step",
        priority: 0,
        dueAt: null,
        runId: "run_1",
        stepId: "a",
        item: null,
        resource: null,
        attempt: 1,
        retryCount: 0,
      }),
    );
    const claimed = await transaction((tx) =>
      tx.jobs.claim("exe_1", { now: at, limit: 8, limits: new Map(), quarantined: "skip" }),
    );
    await beat();
    const timer = setInterval(() => void beat(), 20);
    onTestFinished(() => clearInterval(timer));
    const claims = async () => (await stateOf(stateDir)).find(({ check }) => check === "claims");
    expect(await claims()).toMatchObject({
      status: "error",
      detail: expect.stringContaining("run_1 (exe_1)"),
    });
    running = claimed;
    expect(await claims()).toMatchObject({ status: "ok" });
  });

  it("reports locks that do not block, or that are not released", async () => {
    const path = temporaryDirectory();
    expect(await checkLocks(path, contender({ blocked: false, read: 0 }))).toMatchObject({
      status: "error",
      detail: expect.stringContaining("at the same time"),
    });
    expect(await checkLocks(path, contender({ blocked: true }, { blocked: true, read: null }))).toMatchObject(
      {
        status: "error",
        detail: expect.stringContaining("after it was released"),
      },
    );
    expect(await checkLocks(path, contender())).toMatchObject({ status: "error" });
    expect(readdirSync(path)).toEqual([]);
    expect(await checkLocks(join(path, "none"), contender())).toBeUndefined();
  });

  it("does not wait for checks that hang", async () => {
    const named = { group: "g", check: "w", fix: "m" };
    const late = await runCheck(named, () => new Promise(() => {}), 5);
    expect(late).toEqual([{ ...named, status: "error", detail: "no answer within 0.005 s" }]);
    expect(await runInChild({ spawn: sleeper }, "state", "/x", 50)).toMatchObject([
      { status: "error", detail: expect.stringContaining("hangs") },
    ]);
    expect(await runInChild({ spawn: sleeper }, "integrity", "/x", 50)).toMatchObject([
      { status: "warning" },
    ]);
  });
});
