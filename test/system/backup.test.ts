import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { crashWorkflows, EVENT_WORKFLOW, SCHEDULED_WORKFLOW } from "../support/crash-workflows.ts";
import { eventually } from "../support/eventually.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { apiClient, type ApiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { createOldState } from "../support/old-state.ts";
import { runCommand, startProgram } from "../support/process.ts";
import { seededRandom, testSeed } from "../support/random.ts";
import { installInvariantTriggers, removeInvariantTriggers } from "../support/invariant-triggers.ts";
import { issuesOfRuns, type RecordedCall } from "../support/run-invariants.ts";
import { sqliteAccess } from "../support/state-access.ts";
import { PROGRAM } from "../support/built.ts";

const WRITERS = 4;
const BACKUPS = 3;

const env = (stateDir: string) => ({ MILLRACE_STATE_DIR: stateDir });

async function newKey(stateDir: string, name: string, ...scopes: string[]): Promise<string> {
  const { out } = await runCommand(["keys", "create", "--name", name, "--scope", ...scopes], env(stateDir));
  return out.trim();
}

/** The descriptions of each workflow's versions. Checks that none is missing and that the last one is the workflow's. */
function historiesIn(file: string): Map<string, string[]> {
  const db = new Database(file, { readonly: true });
  const rows = db
    .prepare(
      `select w.id, w.version as newest, w.description as last, v.version, v.description
       from workflows w join workflow_versions v on v.workflow_id = w.id order by w.id, v.version`,
    )
    .all() as { id: string; newest: number; last: string; version: number; description: string }[];
  db.close();
  const histories = new Map<string, string[]>();
  for (const { id, newest, last, version, description } of rows) {
    const history = histories.get(id) ?? [];
    histories.set(id, [...history, description]);
    expect(version).toBe(history.length + 1);
    expect(version).toBeLessThanOrEqual(newest);
    expect([version === newest, description]).toEqual([
      version === newest,
      version === newest ? last : description,
    ]);
  }
  return histories;
}

const runsIn = (file: string): Map<string, string> => {
  const db = new Database(file, { readonly: true });
  const rows = db.prepare("select id, status from runs").all() as { id: string; status: string }[];
  db.close();
  return new Map(rows.map(({ id, status }) => [id, status]));
};

/** Clients that write and start runs through `calls`, and record what was acknowledged. */
function load(calls: readonly ApiClient[], startable: readonly string[]) {
  const histories = new Map<string, string[]>();
  const runs: string[] = [];
  const state = { on: true };
  const next = seededRandom(testSeed("load"));
  const turn = (i: number): ApiClient => calls[i % calls.length]!;
  const writer = async (name: string): Promise<void> => {
    for (let n = 0; state.on; n += 1) {
      const call = turn(n);
      const { status, body } = await call("POST", "/workflows", { name: `${name} ${n}`, description: "0" });
      expect(status).toBe(201);
      histories.set(body.id, ["0"]);
      for (const description of ["1", "2"]) {
        expect((await call("PATCH", `/workflows/${body.id}`, { description })).status).toBe(200);
        histories.get(body.id)!.push(description);
      }
    }
  };
  const starter = async (): Promise<void> => {
    for (let n = 0; state.on; n += 1) {
      const id = startable[Math.floor(next() * startable.length)]!;
      const { status, body } = await turn(n)("POST", `/workflows/${id}/runs`, {
        inputs: { n: Math.floor(next() * 100) },
      });
      expect(status).toBe(202);
      runs.push(body.id);
      await delay(40);
    }
  };
  const working = [...Array.from({ length: WRITERS }, (_, i) => writer(`w${i}`)), starter()];
  return {
    acknowledged: () => ({
      histories: new Map([...histories].map(([id, history]) => [id, [...history]])),
      runs: [...runs],
    }),
    async stop() {
      state.on = false;
      await Promise.all(working);
    },
  };
}

describe("a backup during writes and runs", () => {
  it("contains every acknowledged write and no partial one, and continues on another machine", async () => {
    const stateDir = join(temporaryDirectory(), "state");
    mkdirSync(stateDir, { mode: 0o700 });
    const calls: RecordedCall[] = [];
    const peer = await mockHttpServer(({ path, headers }, response) => {
      calls.push({ stepRef: path.slice(1), key: String(headers["idempotency-key"]) });
      setTimeout(() => sendJson(response, { one: 1 }), 30);
    });
    const config = `http:\n  allowed_hosts: ["${peer.host}"]\n`;
    writeFileSync(join(stateDir, "config.yaml"), config);
    const key = await newKey(stateDir, "agent", "read", "write", "publish", "run");
    await installInvariantTriggers(sqliteAccess(join(stateDir, "millrace.db")));
    const copies = await Promise.all([1, 2].map(() => startProgram("serve", stateDir)));
    const apis = copies.map(({ url }) => apiClient(url, key));
    const definitions = crashWorkflows(peer.url).filter(({ name }) => name !== SCHEDULED_WORKFLOW);
    for (const { name, definition } of definitions)
      expect((await apis[0]!("POST", "/workflows", { name, description: "", definition })).status).toBe(201);
    const { acknowledged, stop } = load(
      apis,
      definitions.map(({ name }) => name),
    );

    const taken: { file: string; before: ReturnType<typeof acknowledged> }[] = [];
    for (let i = 0; i < BACKUPS; i += 1) {
      await delay(1_500);
      const before = acknowledged();
      const file = join(stateDir, "..", `backup-${i}.db`);
      const { code, err, out } = await runCommand(["backup", file, "--json"], env(stateDir));
      expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^Not in the backup/) });
      expect(JSON.parse(out)).toMatchObject({ verified: true });
      // The load continued meanwhile.
      expect(acknowledged().histories.size).toBeGreaterThan(before.histories.size);
      taken.push({ file, before });
    }
    await stop();
    for (const program of copies) expect(await program.stop()).toMatchObject({ code: 0 });

    for (const [index, { file, before }] of taken.entries()) {
      const found = historiesIn(file);
      for (const [id, history] of before.histories)
        expect(found.get(id)?.slice(0, history.length)).toEqual(history);
      const runs = runsIn(file);
      expect(before.runs.filter((id) => !runs.has(id))).toEqual([]);
      const unfinished = [...runs.values()].filter(
        (status) => !["succeeded", "failed"].includes(status),
      ).length;
      expect(unfinished).toBeGreaterThan(0);

      const elsewhere = join(stateDir, "..", `elsewhere-${index}`);
      // A state with triggers is not restored, because their effect is unknown.
      removeInvariantTriggers(file);
      const back = await runCommand(["restore", file, "--json"], env(elsewhere));
      expect(back.code).toBe(0);
      expect(JSON.parse(back.out)).toMatchObject({ rows: { unfinished_runs: unfinished } });
      expect(historiesIn(join(elsewhere, "millrace.db"))).toEqual(found);
      const restored = sqliteAccess(join(elsewhere, "millrace.db"));
      await installInvariantTriggers(restored);
      writeFileSync(join(elsewhere, "config.yaml"), config);
      const decider = await newKey(elsewhere, "decider", "read", "approve");
      const serve = await startProgram("serve", elsewhere);
      const decide = apiClient(serve.url, decider);
      const ended = async (): Promise<true | undefined> => {
        for (const { id } of (await decide("GET", "/approvals?limit=100")).body as { id: string }[])
          await decide("POST", `/approvals/${id}`, { decision: "approve" });
        const expecting = `/runs?workflow_id=${EVENT_WORKFLOW}&status=running&status=waiting&limit=100`;
        for (const { id } of (await decide("GET", expecting)).body as { id: string }[]) {
          const { inputs, steps } = (await decide("GET", `/runs/${id}?step_id=callback`)).body;
          // The URL is that of the first machine: its token is valid here too.
          const url: string | undefined = steps[0].event_url;
          if (url !== undefined) await apiClient(serve.url)("POST", new URL(url).pathname, { n: inputs.n });
        }
        const open = await decide("GET", "/runs?status=queued&status=running&status=waiting&limit=1");
        expect(open.status).toBe(200);
        return open.headers.get("x-total-count") === "0" ? true : undefined;
      };
      await eventually(ended, "all runs to end", 60_000);
      // The key of that time still works, also for new work.
      const again = apiClient(serve.url, key);
      expect(
        (await again("POST", "/workflows/chain/runs", { inputs: { n: 5 }, wait: 30 })).body,
      ).toMatchObject({
        status: "succeeded",
        output: 12,
      });
      expect(await serve.stop()).toMatchObject({ code: 0 });
      const outputs = new Map(definitions.map((made) => [made.name, made]));
      const issues = await issuesOfRuns(restored, {
        acknowledged: before.runs,
        cancelled: new Set(),
        received: [],
        calls,
        outputOf: (id, n) => outputs.get(id)!.expectedOutput(n),
        errorOf: (id) => outputs.get(id)!.failsWith,
      });
      // Calls made after the backup are repeated; the peer recognizes them by the same idempotency key.
      expect(issues.filter((issue) => !/\d+ calls by \d+ attempts$/.test(issue))).toEqual([]);
    }
  });
});

/** A state of 100 MB, so that copying takes a while. */
function largeState(stateDir = createOldState(1)): string {
  const db = new Database(join(stateDir, "millrace.db"));
  db.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000)
    insert into audit_log (at, operation, target, owner, surface, client)
      select '2026-01-01T00:00:00.000Z', 'test', hex(randomblob(1700)), 'operator', 'cli', 'test' from n`);
  db.close();
  return stateDir;
}

describe("kill -9 of a backup", () => {
  it("leaves a complete file or none, and the next backup cleans up", async () => {
    const stateDir = largeState();
    const directory = temporaryDirectory();
    const next = seededRandom(testSeed("kill"));
    let halves = 0;
    for (let round = 0; round < 10; round += 1) {
      const file = join(directory, `${round}.db`);
      const child = spawn(process.execPath, [PROGRAM, "backup", file], {
        env: { ...process.env, ...env(stateDir) },
        stdio: "ignore",
      });
      const exited = once(child, "exit");
      const partial = () => readdirSync(directory).find((name) => name.startsWith(`${round}.db.partial`));
      await eventually(
        () => partial() ?? (child.exitCode === null ? undefined : "done"),
        "the copy to begin",
        20_000,
      );
      const copying = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
      await delay(next() * 150);
      child.kill("SIGKILL");
      await exited;
      // It ends with its command, but not while SQLite is blocked.
      await eventually(() => (existsSync(`/proc/${copying}`) ? undefined : true), "the child to end", 20_000);
      if (existsSync(file)) continue;
      halves += 1;
      expect(partial()).toBeDefined();
      expect(await runCommand(["backup", file], env(stateDir))).toMatchObject({ code: 0 });
      expect(partial()).toBeUndefined();
    }
    expect(halves).toBeGreaterThan(0);
    expect(readdirSync(directory).toSorted()).toEqual(Array.from({ length: 10 }, (_, i) => `${i}.db`));
    for (const name of readdirSync(directory)) {
      const db = new Database(join(directory, name), { readonly: true });
      expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
      expect(db.prepare("select count(*) from audit_log").pluck().get()).toBe(30_012);
      db.close();
    }
  });
});

/** A separate small file system. Mounting needs root. */
function mountSmall(): string {
  const path = mkdtempSync(join(tmpdir(), "millrace-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", path]);
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", path]);
    rmSync(path, { recursive: true });
  });
  return path;
}

describe("a disk without space for a copy", () => {
  it("makes a backup exit with 4, and leaves no file", async () => {
    const stateDir = largeState();
    const small = mountSmall();
    const { code, out, err } = await runCommand(["backup", join(small, "m.db")], env(stateDir));
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toMatch(
      /^The disk of .* has too little space for a copy of the database: it needs up to 1\d\d MiB, but only 4 MiB are free/,
    );
    expect(readdirSync(small)).toEqual([]);
  });

  it("stops a new release with 4 and advice before it migrates, until there is space", async () => {
    const stateDir = mountSmall();
    const file = join(stateDir, "millrace.db");
    cpSync(join(createOldState(1), "millrace.db"), file);
    const { bavail, bsize } = statfsSync(stateDir);
    writeFileSync(join(stateDir, "filler"), Buffer.alloc(bavail * bsize - statSync(file).size / 2));
    const before = readFileSync(file);
    const { code, out, err } = await runCommand(["keys", "list"], env(stateDir));
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toMatch(
      /The disk of .* has too little space for a copy of the database: .* Nothing was changed. Free some space/,
    );
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(stateDir).toSorted()).toEqual(["filler", "millrace.db"]);
    rmSync(join(stateDir, "filler"));
    expect(JSON.parse((await runCommand(["keys", "list", "--json"], env(stateDir))).out)).toHaveLength(5);
    expect(readdirSync(stateDir).filter((name) => name.includes(".before-"))).toHaveLength(1);
  });
});

describe("several processes that start on the state of an older release", () => {
  it("make one copy, and all of them start", async () => {
    const stateDir = largeState();
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => runCommand(["keys", "list", "--json"], env(stateDir))),
    );
    for (const { code, out } of all)
      expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ length: 5 })]);
    expect(readdirSync(stateDir).filter((name) => name.includes(".before-"))).toHaveLength(1);
  });

  it("wait longer for a migration than for any other lock", async () => {
    const stateDir = createOldState(1);
    const other = new Database(join(stateDir, "millrace.db"));
    other.exec("begin immediate");
    const listed = runCommand(["keys", "list", "--json"], env(stateDir));
    await delay(7_000);
    other.close();
    expect((await listed).code).toBe(0);
  });
});
