import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { createApiKey } from "../../tools/api-keys/create-api-key.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { updateProject } from "../../tools/projects/update-project.ts";
import { factorWriter } from "../../src/store/factors.ts";
import { getMigrationStatus, MIGRATIONS } from "../../src/store/migrate.ts";
import { databaseFileIn } from "../../src/store/state-directory.ts";
import { testFactor } from "../support/accounts.ts";
import { fakeClock, testInstance, type TestInstance } from "../support/instance.ts";
import { callAs, signedInUser } from "../support/users.ts";

/** The migrations that the release before projects knows. */
const OLDER = MIGRATIONS.filter(({ id }) => id < 25);
const NEWEST = MIGRATIONS.at(-1)!.id;

async function open() {
  const instance = await testInstance();
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const call = callAs(instance, root.principal);
  return { instance, call, create: () => call(createProject, { name: "Finance" }) };
}

/** A row as an executor of the release before projects leaves it. */
const startOlder = ({ store }: TestInstance) =>
  store.transaction((trx) =>
    trx
      .insertInto("executors")
      .values({ id: "exe_old@host", beat: 7, started_at: "2026-11-21T08:00:00.000Z", release: null })
      .execute(),
  );

/** A process that has the database open, and the given directory as those of this release do. */
async function openInChild(databaseFile: string, directory = "") {
  const program = `
    const { openSync } = require("node:fs");
    const { DatabaseSync } = require("node:sqlite");
    const [databaseFile, directory] = process.argv.slice(1);
    if (directory) openSync(directory, "r");
    const database = new DatabaseSync(databaseFile);
    database.prepare("SELECT count(*) FROM workflows").get();
    process.stdout.write("open");
    process.stdin.on("end", () => database.close()).resume();`;
  const child = spawn(process.execPath, ["-e", program, databaseFile, directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  return {
    pid: child.pid,
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

describe("a second project", () => {
  it("keeps older releases from starting, and nothing does before", async () => {
    const { instance, call, create } = await open();
    const { read } = instance.store;
    await call(updateProject, { project: "default", name: "Ours", description: "All of us" });
    expect((await getMigrationStatus(read, { migrations: OLDER })).applied).toBe(NEWEST);
    await create();
    await expect(getMigrationStatus(read, { migrations: OLDER })).rejects.toThrow(
      /^The state directory was written by a newer release of Millrace, .* Nothing was changed\. Start/,
    );
    expect((await getMigrationStatus(read)).applied).toBe(NEWEST);
  });

  it("is refused while an executor of an older release is on record", async () => {
    const { instance, call, create } = await open();
    const executor = await instance.executor();
    await startOlder(instance);
    await expect(create()).rejects.toMatchObject({
      code: "upgrade_unfinished",
      message: expect.stringContaining("executor exe_old@host, since 2026-11-21T08:00:00.000Z"),
    });
    for (const change of [
      { review: true },
      { connections: "granted" },
      { http_public: "none" },
      { limits: { runs_per_hour: 1 } },
    ])
      await expect(call(updateProject, { project: "default", ...change })).rejects.toMatchObject({
        code: "upgrade_unfinished",
      });
    expect(await instance.read.projects.isSingle()).toBe(true);
    expect((await getMigrationStatus(instance.store.read, { migrations: OLDER })).applied).toBe(NEWEST);
    // What stays as it is, and names, say nothing to an older release.
    await call(updateProject, { project: "default", review: false, name: "Ours" });

    await instance.store.transaction((trx) =>
      trx.deleteFrom("executors").where("id", "=", "exe_old@host").execute(),
    );
    // The executor of this release is on record too.
    const running = await instance.store.read.selectFrom("executors").select("release").execute();
    expect(running).toEqual([{ release: expect.stringMatching(/^\d+\.\d+\.\d+/) }]);
    expect((await create()).id).toBe("finance");
    await executor.stop(0);
  });

  it("is refused while a process that is not of this release has the state open, such as one with --workers 0", async () => {
    const { instance, create } = await open();
    const databaseFile = databaseFileIn(instance.stateDir);
    const older = await openInChild(databaseFile);
    await expect(create()).rejects.toMatchObject({
      code: "upgrade_unfinished",
      message: expect.stringContaining(`(process ${older.pid})`),
    });
    expect((await getMigrationStatus(instance.store.read, { migrations: OLDER })).applied).toBe(NEWEST);
    await older.stop();
    // One of this release says nothing.
    const current = await openInChild(databaseFile, dirname(databaseFile));
    expect((await create()).id).toBe("finance");
    await current.stop();
  });

  it("stays possible when an older row comes back: that release can't start", async () => {
    const { instance, call, create } = await open();
    await create();
    await startOlder(instance);
    expect((await call(createProject, { name: "Sales" })).id).toBe("sales");
  });
});

describe("a key that an older release would give more rights", () => {
  const tools = { tools: ["list_workflows"] };

  it.each([
    { name: "limited", limits: tools },
    { name: "draft writer", scopes: ["write", "run"] },
  ])("is not created while one runs: %j", async (key) => {
    const { instance, call } = await open();
    await startOlder(instance);
    await expect(call(createApiKey, key)).rejects.toMatchObject({ code: "upgrade_unfinished" });
    // The command line creates keys in another way.
    const { name, ...others } = key;
    await expect(instance.key({ name, ...(others as { limits?: typeof tools }) })).rejects.toMatchObject({
      code: "upgrade_unfinished",
    });
    expect(await instance.read.apiKeys.count({})).toBe(0);
    expect((await getMigrationStatus(instance.store.read, { migrations: OLDER })).applied).toBe(NEWEST);
  });

  it("keeps older releases from starting, and others do not", async () => {
    const { instance, call } = await open();
    const { read } = instance.store;
    await call(createApiKey, { name: "plain" });
    await call(createApiKey, { name: "runner", scopes: ["run"] });
    expect((await getMigrationStatus(read, { migrations: OLDER })).applied).toBe(NEWEST);
    await call(createApiKey, { name: "limited", limits: tools });
    await expect(getMigrationStatus(read, { migrations: OLDER })).rejects.toThrow("newer release");
  });
});

const addFactor = async ({ store, read }: TestInstance, id = "fac_1") => {
  const user = (await read.users.findByEmail("root@example.com"))!;
  return store.transaction((trx) =>
    factorWriter(trx, fakeClock()).insertFactor(testFactor(id, { userId: user.id })),
  );
};

describe("the first second factor", () => {
  /** The migrations that the release before second factors knows. */
  const WITHOUT_FACTORS = MIGRATIONS.filter(({ id }) => id < 54);
  const statusOf = ({ store }: TestInstance) =>
    getMigrationStatus(store.read, { migrations: WITHOUT_FACTORS });

  it("keeps releases without them from starting, also after the first second project", async () => {
    const { instance, create } = await open();
    await create();
    expect((await statusOf(instance)).applied).toBe(NEWEST);
    expect(await addFactor(instance)).toBe(true);
    await expect(statusOf(instance)).rejects.toThrow("newer release");
    expect((await getMigrationStatus(instance.store.read)).applied).toBe(NEWEST);
    expect(await addFactor(instance, "fac_2")).toBe(true);
  });

  it("keeps releases without projects from starting, too", async () => {
    const { instance, create } = await open();
    await addFactor(instance);
    await expect(getMigrationStatus(instance.store.read, { migrations: OLDER })).rejects.toThrow(
      "newer release",
    );
    expect((await create()).id).toBe("finance");
  });

  it.each([null, "0.1.0", "0.1.0+53"])("is refused beside an executor of the release %j", async (release) => {
    const { instance, create } = await open();
    await create();
    const executor = await instance.executor();
    const { id } = await instance.store.transaction((trx) =>
      trx
        .insertInto("executors")
        .values({ id: "exe_old@host", beat: 7, started_at: "2026-11-21T08:00:00.000Z", release })
        .returning("id")
        .executeTakeFirstOrThrow(),
    );
    await expect(addFactor(instance)).rejects.toMatchObject({
      code: "upgrade_unfinished",
      message: expect.stringContaining("executor exe_old@host"),
    });
    expect((await statusOf(instance)).applied).toBe(NEWEST);
    await instance.store.transaction((trx) => trx.deleteFrom("executors").where("id", "=", id).execute());
    // The executor of this release is on record too.
    expect(await addFactor(instance)).toBe(true);
    await executor.stop(0);
  });
});
