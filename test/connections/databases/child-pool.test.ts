import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabases, createSqliteFile, abortAfter } from "../../support/databases.ts";
import { callOf } from "../../support/call-context.ts";
import { childProgram } from "../../support/child-program.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryDirectory } from "../../support/instance.ts";

const FOREVER = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t";
const CHILD = "connections/databases/child.ts";

interface Running {
  pid: number;
  command: string;
}

/** Lists the children of a process that run queries, from /proc of Linux. */
function children(parent = process.pid, program = CHILD): Running[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, ppid] = status.slice(status.lastIndexOf(")") + 2).split(" ");
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
        const isOurs = Number(ppid) === parent && state !== "Z" && command.includes(program);
        return isOurs ? [{ pid: Number(name), command }] : [];
      } catch {
        return []; // ended meanwhile
      }
    });
}

const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
/** Returns the CPU time of a process, in hundredths of a second. */
const cpuTime = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")[11]);
const ended = (pid: number) => eventually(() => (isAlive(pid) ? undefined : true), `the end of ${pid}`);

const columns = (count: number, value: string): string =>
  Array.from({ length: count }, (_, index) => `${value} AS c${index}`).join(", ");

/** Lists the processes, of any parent, that were started for this file. */
function orphansOn(file: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const mine =
        /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(`"file":"${file}"`);
      return mine && isAlive(Number(name)) ? [Number(name)] : [];
    } catch {
      return []; // ended meanwhile
    }
  });
}

/** Databases whose children are started from the sources, as in a checkout. Most other tests start the built ones. */
function shops(count: number, options = {}) {
  const directory = temporaryDirectory();
  const entries = Array.from({ length: count }, (_, index) => ({
    name: `shop${index}`,
    type: "sqlite",
    dataset: createSqliteFile(directory, "CREATE TABLE t (a)", `${index}.db`),
  }));
  return openDatabases(entries, {}, { childProgram: undefined, ...options });
}

/** Waits until a child runs its query: a child that dies before that is replaced, and the query runs in the other. */
async function untilBusy(pid: number): Promise<void> {
  const before = cpuTime(pid);
  await eventually(() => (cpuTime(pid) > before + 10 ? true : undefined), "a busy child");
}

describe("the child processes of embedded databases", () => {
  it("are reused, have no environment and can read no other file", async () => {
    const { runQuery } = shops(1);
    await runQuery("shop0", "SELECT 1");
    const [first, ...others] = children();
    await runQuery("shop0", "SELECT 1");
    expect([children(), others]).toEqual([[first], []]);
    // The child has its own process group, so that Ctrl-C at a terminal ends the service but not its query.
    const group = readFileSync(`/proc/${first!.pid}/stat`, "utf8").split(") ")[1]!.split(" ")[2];
    expect(Number(group)).toBe(first!.pid);
    expect(readFileSync(`/proc/${first!.pid}/environ`, "utf8").replace(/NODE_CHANNEL\w+=\w+\0/g, "")).toBe(
      "",
    );
    expect(first!.command).toContain("--permission");
    // Heavy queries leave the processor to the processes that serve everybody.
    expect(getPriority(first!.pid) - getPriority()).toBe(10);
  });

  it.each([
    { from: "the sources", program: undefined, file: CHILD },
    { from: "a release", program: childProgram(), file: "dist/program/child.js" },
  ])("run both engines from $from", async ({ program, file }) => {
    const dataset = createSqliteFile(temporaryDirectory(), "CREATE TABLE t (a)");
    const shop = { name: "shop", type: "sqlite", dataset, access: "read-write" };
    const { runQuery } = openDatabases([shop], {}, { childProgram: program });
    const params = { a: 9_007_199_254_740_991 };
    await runQuery("shop", "INSERT INTO t VALUES (:a)", params, { write: true });
    const { rows } = await runQuery("shop", "SELECT a FROM t WHERE a = :a", params);
    expect(rows).toEqual([params]);
    expect((await runQuery("scratch", "SELECT DATE '2026-11-30' AS day")).rows).toEqual([
      { day: "2026-11-30" },
    ]);
    const engines = children(process.pid, file).map(({ command }) => /"engine":"(\w+)"/.exec(command)?.[1]);
    expect(new Set(engines)).toEqual(new Set(["duckdb", "sqlite"]));
  });

  it("have a maximum number over all databases, and take turns", async () => {
    const { runQuery } = shops(6, { maxChildProcesses: 2 });
    let maxChildren = 0;
    const watching = setInterval(() => (maxChildren = Math.max(maxChildren, children().length)), 5);
    const queries = Array.from({ length: 12 }, (_, index) =>
      runQuery(`shop${index % 6}`, `SELECT ${index} AS i`),
    );
    const answers = await Promise.all(queries);
    clearInterval(watching);
    expect(answers.map(({ rows }) => rows[0]!["i"])).toEqual(Array.from({ length: 12 }, (_, index) => index));
    // A child that is being killed no longer counts, so that the next one can start.
    expect(maxChildren).toBeLessThanOrEqual(4);
    await eventually(() => (children().length <= 2 ? true : undefined), "two children");
  });

  it("are shared by owners: endless queries of one leave a child for the next", async () => {
    const { databases, runQuery } = shops(1);
    const attack = new AbortController();
    const request = {
      database: "shop0",
      params: {},
      write: false,
      maxRows: 1,
      maxBytes: 99,
      keepTruncated: true,
    };
    const endless = Array.from({ length: 20 }, () =>
      databases
        .query({ ...request, query: FOREVER }, callOf(attack.signal, "mallory"))
        .catch(() => undefined),
    );
    await eventually(() => (children().length === 3 ? true : undefined), "three busy children");
    expect((await runQuery("shop0", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    attack.abort();
    await Promise.all(endless);
  });

  it("prepare queries in turns: one owner's many do not come before another one's", async () => {
    const { databases } = shops(1);
    const prepare = (owner: string) =>
      databases.prepare(
        { database: "shop0", query: "SELECT 1 AS one", params: [], write: false },
        callOf(undefined, owner),
      );
    // The start of a process takes longer than many queries.
    await Promise.all([prepare("mallory"), prepare("ada@example.com")]);
    expect(children()).toHaveLength(2);
    const order: string[] = [];
    const many = Array.from({ length: 200 }, async () => {
      await prepare("mallory");
      order.push("mallory");
    });
    const mine = prepare("ada@example.com").then(() => order.push("ada"));
    await Promise.all([...many, mine]);
    // A busy machine may let the process of one query wait while the other one answers dozens.
    expect(order.indexOf("ada")).toBeLessThan(150);
  });

  it("are killed by an abort, and a waiting query is aborted too", async () => {
    const { runQuery, queryError } = shops(1, { maxChildProcesses: 1 });
    await runQuery("shop0", "SELECT 1");
    const [{ pid }] = children() as [Running];
    const controller = new AbortController();
    const running = queryError("shop0", FOREVER, {}, {}, controller.signal);
    await untilBusy(pid);
    const waiting = queryError("shop0", "SELECT 1", {}, {}, abortAfter(100));
    expect((await waiting).code).toBe("timeout");
    controller.abort();
    expect((await running).code).toBe("cancelled");
    await ended(pid);
    expect((await runQuery("shop0", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("are replaced after a crash, which fails only the query of that child", async () => {
    const { runQuery, queryError } = shops(1);
    await runQuery("shop0", "SELECT 1");
    const [{ pid }] = children() as [Running];
    const killed = queryError("shop0", FOREVER);
    await untilBusy(pid);
    process.kill(pid, "SIGKILL");
    expect(await killed).toMatchObject({ code: "memory_limit" });
    expect((await runQuery("shop0", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    const crashed = queryError("shop0", FOREVER);
    const [next] = children() as [Running];
    await untilBusy(next.pid);
    process.kill(next.pid, "SIGSEGV");
    expect(await crashed).toMatchObject({ code: "step_failed" });
    expect((await runQuery("shop0", "SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("are killed if they exceed their memory limit", async () => {
    const { queryError } = shops(1, { memoryMb: 500 });
    // The engine's own limit does not include the copies of its values in JavaScript.
    const text = await queryError("shop0", `SELECT ${columns(150, "hex(zeroblob(1000000))")}`);
    expect(text).toMatchObject({ code: "memory_limit" });
    expect(text.message).toMatch(/its heap was full|it used \d+ MiB/);
    const bytes = await queryError("shop0", `SELECT ${columns(8, "randomblob(60000000)")}`);
    expect(bytes).toMatchObject({ code: "memory_limit" });
    expect(bytes.message).toMatch(/it used \d+ MiB/);
  });

  it("end after the idle time, and when the connections are closed", async () => {
    const { runQuery, databases, queryError } = shops(1, { idleTimeoutMs: 50 });
    await runQuery("shop0", "SELECT 1");
    const [{ pid }] = children() as [Running];
    await ended(pid);
    const running = queryError("shop0", FOREVER);
    await eventually(() => (children().length === 1 ? true : undefined), "a child");
    await databases.close();
    expect((await running).code).toBe("interrupted");
    await eventually(() => (children().length === 0 ? true : undefined), "no child");
  });

  it("do not keep their parent alive, and end with it even during a query", async () => {
    const dataset = createSqliteFile(temporaryDirectory(), "CREATE TABLE t (a)");
    onTestFinished(() => orphansOn(dataset).forEach((pid) => process.kill(pid, "SIGKILL")));
    const source = `
      import { createDatabases } from ${JSON.stringify(fileURLToPath(new URL("../../../src/connections/databases/index.ts", import.meta.url)))};
      const shop = { name: "shop", type: "sqlite", dataset: ${JSON.stringify(dataset)}, access: "read-only" };
      const databases = createDatabases({ databases: [shop] }, {}, { stateDir: "/nonexistent" });
      const ask = (query) => databases.query({ database: "shop", query, params: {}, write: false, maxRows: 1, maxBytes: 99 }, { owner: "ada", signal: new AbortController().signal });
      if (process.argv[1] !== "die") console.log((await ask("SELECT 1 AS one")).rows[0].one);
      const [, how, after] = process.argv;
      if (how === "die") setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(after));
      if (how !== "leave") await ask(${JSON.stringify(FOREVER)});`;
    const start = (...args: string[]) => {
      const parent = spawn(process.execPath, ["--input-type=module", "--eval", source, ...args], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      return parent;
    };
    const leaving = start("leave");
    expect((await once(leaving, "exit"))[0]).toBe(0);

    const staying = start("stay");
    await once(staying.stdout, "data");
    const [{ pid }] = children(staying.pid) as [Running];
    await untilBusy(pid);
    staying.kill("SIGKILL");
    await ended(pid);

    // The parent dies at different points of its child's start.
    for (const after of [10, 30, 50, 80]) await once(start("die", String(after)), "exit");
    await eventually(() => (orphansOn(dataset).length === 0 ? true : undefined), "the end of all orphans");
  });
});
