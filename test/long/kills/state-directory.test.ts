import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { temporaryDirectory, testInstance } from "../../support/instance.ts";
import { holdLock } from "../../support/lock.ts";
import { spawnCommand, runHere } from "../../support/process.ts";

/** Commands that create a missing state directory. */
const CREATING_COMMANDS = [["serve", "--port", "0"], ["mcp-sse", "--port", "0"], ["start"]] as const;
const COMMANDS = [...CREATING_COMMANDS, ["keys", "list"]] as const;

/** Expects that each command exits with 4 and a message without a stack; returns the message. */
async function refused(
  stateDir: string,
  commands: readonly (readonly string[])[] = COMMANDS,
): Promise<string> {
  const messages = new Set<string>();
  for (const command of commands) {
    // `start` begins other processes.
    const run = command[0] === "start" ? spawnCommand : runHere;
    const { code, out, err } = await run(command, { MILLRACE_STATE_DIR: stateDir });
    expect({ command, code, out }).toEqual({ command, code: 4, out: "" });
    expect(err).toContain(stateDir);
    expect(err).not.toMatch(/\n\s+at |SQLITE_|Error:/);
    messages.add(err);
  }
  // All commands print the same message.
  expect(messages.size).toBe(1);
  return [...messages].join("");
}

/** A user that the system does not know, as in containers with a random id. */
const STRANGER = 54_321;

/** Runs the program as another user, who may read what this one can. */
async function runAsStranger(
  args: readonly string[],
  stateDir: string | undefined,
  env: Record<string, string | undefined> = {},
): Promise<{ code: number; out: string; err: string }> {
  const bin = fileURLToPath(new URL("../../../bin/millrace.js", import.meta.url));
  const child = spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, MILLRACE_STATE_DIR: stateDir, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    uid: STRANGER,
    gid: STRANGER,
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

/** A state directory with content and a closed database. */
async function used(): Promise<{ stateDir: string; file: string }> {
  const stateDir = join(temporaryDirectory(), "state");
  await runHere(["keys", "create", "--name", "first"], { MILLRACE_STATE_DIR: stateDir });
  return { stateDir, file: join(stateDir, "millrace.db") };
}

describe("the state directory at start", () => {
  it("is refused when a file is in its place, or in the place of one above", async () => {
    const file = join(temporaryDirectory(), "file");
    writeFileSync(file, "not a directory");
    expect(await refused(file)).toMatch(
      /there is a file where the directory should be.*Set MILLRACE_STATE_DIR to/s,
    );
    expect(await refused(join(file, "below"), CREATING_COMMANDS)).toMatch(
      /there is a file where the directory should be/,
    );
  });

  it("is refused when it can't be created", async () => {
    expect(await refused("/sys/millrace/state", CREATING_COMMANDS)).toMatch(
      /can't be used: .*Set MILLRACE_STATE_DIR to/s,
    );
    // Node's recursive mkdir would never return here.
    expect(await refused("/proc/millrace/state", CREATING_COMMANDS)).toMatch(
      /it can't be created there.*Set MILLRACE_STATE_DIR to/s,
    );
  });

  it("is refused when this user may not write there, with whose it is", async () => {
    const parent = temporaryDirectory();
    chmodSync(parent, 0o555);
    const { code, err } = await runAsStranger(["keys", "create", "--name", "x"], join(parent, "state"));
    expect(err).toMatch(
      new RegExp(
        `this user may not read and write there: ${parent} belongs to user \\d+ \\(mode 0555\\), and this is user \\d+\\. ` +
          `Create it for this user \\(install -d .* ${parent}/state\\), or set MILLRACE_STATE_DIR to`,
      ),
    );
    expect(code).toBe(4);
  });

  it.each([["keys", "list"], ["serve", "--port", "0"], ["doctor"]])(
    "of another user is named by %s %s, with its owner",
    async (...command) => {
      const stateDir = temporaryDirectory();
      chmodSync(stateDir, 0o700);
      const { err, out } = await runAsStranger(command, stateDir);
      expect(out + err).toMatch(
        new RegExp(
          `${stateDir} belongs to user 0 \\(mode 0700\\), and this is user ${STRANGER}\\. Give it to this user`,
        ),
      );
      expect(out + err).toContain(`chown -R ${STRANGER} ${stateDir}`);
      expect(out + err).not.toContain("config.yaml");
    },
  );

  it.each(["", "-wal", "-shm"])(
    "names millrace.db%s of root in the directory of this user",
    async (suffix) => {
      const { stateDir, file } = await used();
      chmodSync(join(stateDir, ".."), 0o755);
      chownSync(stateDir, STRANGER, STRANGER);
      chownSync(file, STRANGER, STRANGER);
      writeFileSync(`${file}${suffix}`, "", { flag: "a", mode: 0o600 });
      chmodSync(`${file}${suffix}`, 0o600);
      chownSync(`${file}${suffix}`, 0, 0);
      for (const command of [
        ["keys", "list"],
        ["serve", "--port", "0"],
      ]) {
        const { code, err } = await runAsStranger(command, stateDir);
        expect(err).toContain(
          `${file}${suffix} belongs to user 0 (mode 0600), and this is user ${STRANGER}. Give it`,
        );
        expect(code).toBe(4);
      }
    },
  );

  it("names a file of root among the samples of this user, and what belongs to this user with its mode", async () => {
    const stateDir = temporaryDirectory();
    chownSync(stateDir, STRANGER, STRANGER);
    mkdirSync(join(stateDir, "samples"));
    writeFileSync(join(stateDir, "samples", "shop.db"), "", { mode: 0o600 });
    chownSync(join(stateDir, "samples"), STRANGER, STRANGER);
    const command = ["start", "--port", "0", "--mcp-port", "0"];
    const sample = await runAsStranger(command, stateDir);
    expect(sample.err).toContain(
      `${stateDir}/samples/shop.db belongs to user 0 (mode 0600), and this is user ${STRANGER}. Give it`,
    );
    chmodSync(stateDir, 0o555);
    const directory = await runAsStranger(command, stateDir);
    expect(directory.err).toContain(`Let its owner use it (chmod u+rwX ${stateDir})`);
    expect([sample.code, directory.code]).toEqual([4, 4]);
  });

  it.each([["keys", "list"], ["serve", "--port", "0"], ["doctor"]])(
    "behind a link into a directory of another user is named by %s %s, with its owner",
    async (...command) => {
      const [above, closed] = [temporaryDirectory(), join(temporaryDirectory(), "closed")];
      chmodSync(above, 0o755);
      chmodSync(join(closed, ".."), 0o755);
      mkdirSync(closed, { mode: 0o700 });
      mkdirSync(join(closed, "state"));
      symlinkSync(relative(above, join(closed, "state")), join(above, "first"));
      symlinkSync("first", join(above, "state"));
      const { err, out } = await runAsStranger(command, join(above, "state"));
      expect(out + err).toContain(
        `${closed} belongs to user 0 (mode 0700), and this is user ${STRANGER}. Create it`,
      );
      expect(out + err).not.toMatch(/\n\s+at |Error:|config.yaml/);
    },
  );

  it("is refused when its links form a loop", async () => {
    const loop = join(temporaryDirectory(), "loop");
    symlinkSync(loop, loop);
    expect(await refused(loop)).toMatch(/its symbolic links form a loop.*Set MILLRACE_STATE_DIR to/s);
  });

  it("is asked for where a user has no home directory", async () => {
    for (const HOME of [undefined, ""]) {
      const { code, err } = await runAsStranger(["keys", "list"], undefined, { HOME });
      expect(err).toMatch(/MILLRACE_STATE_DIR is not set, and this user has no home directory/);
      expect(code).toBe(3);
    }
  });

  it.each([
    ["garbage", (file: string) => writeFileSync(file, "x".repeat(10_000)), /is not a Millrace database/],
    ["cut short", (file: string) => truncateSync(file, 8_192), /is damaged. Restore it from a backup/],
    [
      "cut within a page",
      (file: string) => truncateSync(file, 5_000),
      /is damaged. Restore it from a backup/,
    ],
    [
      "with a flipped bit in its header",
      (file: string) => {
        const bytes = readFileSync(file);
        bytes[3]! ^= 0x10;
        writeFileSync(file, bytes);
      },
      /is not a Millrace database/,
    ],
  ])("is refused when its database is %s, which stays unchanged", async (_what, damage, message) => {
    const { stateDir, file } = await used();
    damage(file);
    const before = readFileSync(file);
    expect(await refused(stateDir)).toMatch(message);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is refused when a directory is in the place of the database", async () => {
    const stateDir = temporaryDirectory();
    mkdirSync(join(stateDir, "millrace.db"));
    expect(await refused(stateDir, [["keys", "list"]])).toMatch(/can't be opened/);
  });

  it.each([
    ["other tables", "create table invoices (id integer primary key, total integer)"],
    ["a table of workflows", "create table workflows (id integer primary key, title text)"],
    ["a table of migrations", "create table migrations (id integer primary key, batch integer)"],
    ["another program's application id", "pragma application_id = 252006674"],
  ])(
    "is refused when its database is another program's, with %s, which stays untouched",
    async (_what, sql) => {
      const stateDir = temporaryDirectory();
      const file = join(stateDir, "millrace.db");
      new Database(file).exec(sql).close();
      const before = readFileSync(file);
      expect(
        await refused(stateDir, [
          ["serve", "--port", "0"],
          ["keys", "list"],
        ]),
      ).toMatch(/another program.*Move it to another place/s);
      expect(readFileSync(file).equals(before)).toBe(true);
    },
  );

  it("is accepted when the database is empty", async () => {
    const stateDir = temporaryDirectory();
    writeFileSync(join(stateDir, "millrace.db"), "");
    const instance = await testInstance({ stateDir });
    expect(await instance.keys.list()).toEqual([]);
  });

  it("is refused for an incompatible newer release, and accepted for a compatible one", async () => {
    const { stateDir, file } = await used();
    const db = new Database(file);
    const { newest } = db.prepare("select max(id) as newest from migrations").get() as { newest: number };
    const add = db.prepare("insert into migrations values (?, 'later', ?, '2030-01-01T00:00:00.000Z')");
    add.run(newest + 1, newest);
    const env = { MILLRACE_STATE_DIR: stateDir };
    expect(await spawnCommand(["keys", "list"], env)).toMatchObject({
      code: 0,
      out: expect.stringContaining("first"),
    });
    add.run(newest + 2, newest + 2);
    db.close();
    expect(await refused(stateDir)).toMatch(
      /written by a newer release of Millrace.*Start \S+ or a newer one/s,
    );
  });

  it("waits when another process holds the lock for a moment", async () => {
    const { stateDir } = await used();
    const release = holdLock(stateDir);
    const created = spawnCommand(["keys", "create", "--name", "second"], { MILLRACE_STATE_DIR: stateDir });
    setTimeout(release, 1_500);
    expect(await created).toMatchObject({ code: 0, out: expect.stringMatching(/^mill_/) });
  });

  it("gives up after 5 s when another process holds the lock, with advice", async () => {
    const { stateDir } = await used();
    holdLock(stateDir);
    const start = performance.now();
    const { code, err } = await spawnCommand(["keys", "create", "--name", "x"], {
      MILLRACE_STATE_DIR: stateDir,
    });
    expect(code).toBe(4);
    expect(err).toMatch(/^Another process holds the database lock.*Try again/);
    expect(performance.now() - start).toBeLessThan(18_000);
  });
});
