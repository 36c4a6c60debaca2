import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { backup } from "../../src/commands/backup.ts";
import { describeError, type Io } from "../../src/commands/io.ts";
import { restore } from "../../src/commands/restore.ts";
import { createBackup } from "../../src/store/backup.ts";
import { MIGRATIONS } from "../../src/store/migrate.ts";
import { eventually, untilPassing } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance, type TestInstance } from "../support/instance.ts";
import { holdLock } from "../support/lock.ts";
import { mockHttpServer } from "../support/mock-http-server.ts";
import { createOldState } from "../support/old-state.ts";
import { runCommand } from "../support/process.ts";
import { verifyState } from "../support/verify-state.ts";
import packageJson from "../../package.json" with { type: "json" };
import { PROGRAM } from "../support/built.ts";
const NEWEST = MIGRATIONS.at(-1)!.id;

/** Runs a command in this process, and returns its exit code and output. */
async function runInProcess(
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
    const described = describeError(error);
    err += `${described.message}\n`;
    code = described.exitCode;
  });
  return { code, out, err };
}

describe("millrace backup", () => {
  it("writes a verified file that only this user can read while others write, and says what it does not hold", async () => {
    const instance = await testInstance();
    const call = apiClient((await instance.rest()).url, (await instance.key()).value);
    const directory = temporaryDirectory();
    const file = join(directory, "m.db");
    const acknowledged: string[] = [];
    const load = { on: true };
    const writer = (async () => {
      for (let i = 0; load.on; i += 1) {
        await call("POST", "/workflows", { name: `W${i}`, description: "x" });
        acknowledged.push(`W${i}`);
      }
    })();
    await eventually(() => (acknowledged.length > 2 ? true : undefined), "writes");
    const before = [...acknowledged];
    const { code, out, err } = await runInProcess(backup, instance.stateDir, file, { json: true });
    const after = acknowledged.length;
    load.on = false;
    await writer;
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(
        /^Not in the backup: the configuration \(.*config\.yaml\), the variables or files with secrets, /,
      ),
    });
    expect(after).toBeGreaterThan(before.length);
    expect(readdirSync(directory)).toEqual(["m.db"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const report = JSON.parse(out) as { rows: Record<string, number> };
    expect(report).toMatchObject({
      file,
      bytes: statSync(file).size,
      verified: true,
      made_by: packageJson.version,
      migration: NEWEST,
      rows: { users: 0, api_keys: 1, unfinished_runs: 0 },
    });
    const copy = temporaryDirectory();
    cpSync(file, join(copy, "millrace.db"));
    const names = verifyState(copy).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(before));
    expect(report.rows["workflows"]).toBe(names.length);
  });

  it.each<[string, number, (places: { stateDir: string; directory: string }) => string, RegExp]>([
    [
      "an existing file",
      2,
      ({ directory }) => {
        const file = join(directory, "x");
        writeFileSync(file, "mine");
        return file;
      },
      /x already exists, and a backup never replaces a file/,
    ],
    ["a directory", 2, ({ directory }) => directory, /is a directory\. Name a file in it/],
    [
      "the database itself",
      2,
      ({ stateDir }) => join(stateDir, "millrace.db"),
      /belongs to the database itself/,
    ],
    [
      "a journal of it",
      2,
      ({ stateDir }) => `${stateDir}/./millrace.db-journal`,
      /belongs to the database itself/,
    ],
    ["standard output", 2, () => "-", /The target must be a file/],
    [
      "a missing directory",
      1,
      ({ directory }) => join(directory, "no/m.db"),
      /The directory .*no does not exist\. Create it/,
    ],
  ])("refuses %s, and writes nothing", async (_, expected, target, words) => {
    const places = { stateDir: createOldState(1), directory: temporaryDirectory() };
    const file = target(places);
    const present = () => [readdirSync(places.stateDir), readdirSync(places.directory)];
    const before = present();
    const { code, out, err } = await runInProcess(backup, places.stateDir, file);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toMatch(words);
    expect(present()).toEqual(before);
    expect(before[1]!.map((name) => readFileSync(join(places.directory, name), "utf8"))).toEqual(
      before[1]!.map(() => "mine"),
    );
  });

  it("exits with 4 if there is no state, and does not create one", async () => {
    const stateDir = join(temporaryDirectory(), "state");
    const { code, out, err } = await runInProcess(backup, stateDir, join(temporaryDirectory(), "m.db"));
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toMatch(/There is no state in .* to back up\. Set MILLRACE_STATE_DIR/);
    expect(existsSync(stateDir)).toBe(false);
  });

  it("exits with 4 and leaves no file if the copy process fails", async () => {
    const stateDir = temporaryDirectory();
    new Database(join(stateDir, "millrace.db")).exec("create table t (a)").close();
    const directory = temporaryDirectory();
    const { code, err } = await runInProcess(backup, stateDir, join(directory, "m.db"));
    expect(code).toBe(4);
    expect(err).toBe(`The database ${join(stateDir, "millrace.db")} is the database of another program.\n`);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("ends soon on %s, and leaves no file", async (signal) => {
    const stateDir = createOldState(1);
    const db = new Database(join(stateDir, "millrace.db"));
    db.pragma("journal_mode = delete");
    db.close();
    // The database is locked, so the backup waits.
    holdLock(stateDir);
    const directory = temporaryDirectory();
    const child = spawn(process.execPath, [PROGRAM, "backup", join(directory, "m.db")], {
      env: { ...process.env, MILLRACE_STATE_DIR: stateDir },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
    const exited = once(child, "close") as Promise<[number | null]>;
    const copying = await eventually(() => copyingChildOf(child.pid!), "the copying child");
    // The backup would wait without the signal.
    process.kill(Number(copying), "SIGSTOP");
    child.kill(signal);
    expect((await exited)[0]).toBe(1);
    expect(err).toBe("The copy was stopped. No file was created.\n");
    expect(existsSync(`/proc/${copying}`)).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });
});

/**
 * Returns the copying child of a process, once it runs its own program: one that is stopped before that blocks its
 * parent, which waits for the start of the program.
 */
function copyingChildOf(pid: number): string | undefined {
  try {
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]!;
    return readFileSync(`/proc/${child}/cmdline`, "utf8").includes("copy-child") ? child : undefined;
  } catch {
    return undefined;
  }
}

describe("millrace restore", () => {
  it("restores a backup once, and says what the next start does", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "m.db");
    const made = await runCommand(["backup", file], { MILLRACE_STATE_DIR: createOldState(1) });
    expect(made).toMatchObject({
      code: 0,
      out: expect.stringMatching(/m\.db: 0\.\d MiB in \d+\.\d s, verified\. Contents:\n {2}workflows/),
    });
    const stateDir = join(directory, "state");
    const env = { MILLRACE_STATE_DIR: stateDir };
    const { code, out, err } = await runCommand(["restore", file], env);
    expect(code).toBe(0);
    expect(out).toContain(`millrace.db: restored from ${file}, created `);
    expect(out).toContain(`The next start migrates it from 1 to ${NEWEST}.\nRemoved: 0 browser sessions`);
    expect(err).toMatch(/^API keys, users and roles are as they were at the time of the backup/);
    expect([statSync(stateDir).mode & 0o777, readdirSync(stateDir)]).toEqual([0o700, ["millrace.db"]]);
    expect(JSON.parse((await runCommand(["keys", "list", "--json"], env)).out)).toHaveLength(5);
    expect(await runCommand(["restore", file], env)).toMatchObject({ code: 4, out: "" });
  });

  it.each(["", "-wal", "-shm", "-journal"])(
    "refuses to overwrite a millrace.db%s, and changes nothing",
    async (suffix) => {
      const file = join(temporaryDirectory(), "m.db");
      await createBackup(
        { databaseFile: join(createOldState(1), "millrace.db"), partial: file },
        { at: "", release: "" },
      );
      const stateDir = temporaryDirectory();
      const there = join(stateDir, `millrace.db${suffix}`);
      writeFileSync(there, "mine");
      const { code, out, err } = await runInProcess(restore, stateDir, file);
      expect({ code, out }).toEqual({ code: 4, out: "" });
      expect(err).toContain(`Stop Millrace, move ${there} away, then restore again`);
      expect([readdirSync(stateDir), readFileSync(there, "utf8")]).toEqual([
        [`millrace.db${suffix}`],
        "mine",
      ]);
    },
  );

  it("refuses a path that is not a file, and a file that is not a backup", async () => {
    const directory = temporaryDirectory();
    const stateDir = join(directory, "state");
    mkdirSync(stateDir);
    for (const path of [directory, join(directory, "no")])
      expect(await runInProcess(restore, stateDir, path)).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringMatching(/is not a file/),
      });
    writeFileSync(join(directory, "text"), "text ".repeat(2_000));
    expect(await runInProcess(restore, stateDir, join(directory, "text"))).toEqual({
      code: 4,
      out: "",
      err: `${join(directory, "text")} is damaged: file is not a database. Nothing was created. Restore the newest undamaged backup.\n`,
    });
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it("asks whether the effect of an attempt happened that was running at the time of the backup", async () => {
    const { url, host, received } = await mockHttpServer(() => {
      // The payment gets no answer.
    });
    const config = { http: { allowed_hosts: [host] } };
    const before = await testInstance({ config });
    const executor = await before.executor({ config });
    const client = async (instance: TestInstance) =>
      apiClient(
        (await instance.rest({ config })).url,
        (await instance.key({ scopes: ["read", "write", "run"] })).value,
      );
    const call = await client(before);
    const pay = { id: "pay", type: "http", method: "POST", url: `${url}/pay`, on_interrupted: "ask" };
    await call("POST", "/workflows", { name: "Pay", definition: { steps: [pay] } });
    const { body: run } = await call("POST", "/workflows/pay/runs", { wait: 0 });
    await untilPassing(() => expect(received).toHaveLength(1));
    const file = join(temporaryDirectory(), "m.db");
    expect(await runInProcess(backup, before.stateDir, file)).toMatchObject({ code: 0 });
    await executor.stop(0);
    const stateDir = join(temporaryDirectory(), "state");
    expect(await runInProcess(restore, stateDir, file)).toMatchObject({ code: 0 });
    const after = await testInstance({ stateDir, config });
    await after.executor({ config });
    const again = await client(after);
    await untilPassing(async () =>
      expect((await again("GET", `/runs/${run.id}`)).body).toMatchObject({
        status: "waiting",
        interruptions: [{ step_id: "pay", attempt: 1, reason: "executor_ended", waiting: true }],
      }),
    );
    expect(received).toHaveLength(1);
  });
});
