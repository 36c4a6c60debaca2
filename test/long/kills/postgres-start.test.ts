/** Starts of processes during which a connection to PostgreSQL breaks, at any statement. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";
import { PROGRAM } from "../../support/built.ts";
import { temporaryDirectory } from "../../support/instance.ts";
import { type Action, postgresProxy, type PostgresProxy } from "../../support/postgres-proxy.ts";
import { databaseAt } from "../../support/postgres-stores.ts";
import { type Postgres, startPostgres } from "../../support/postgres.ts";
import { createDatabase, databaseEnv, untilRecovered } from "../../support/proxied-installation.ts";
import { caseCount, seededRandom, testSeed } from "../../support/random.ts";

const COMMANDS: Readonly<Record<string, { args: string[]; ready: RegExp }>> = {
  serve: { args: ["serve", "--port", "0", "--workers", "0"], ready: /there is no admin account yet/ },
  worker: { args: ["worker"], ready: /worker started/ },
  start: { args: ["start", "--port", "0", "--mcp-port", "0"], ready: /Press Ctrl-C/ },
};

/** How connections break at one statement. */
const BREAKS = {
  cut: () => "cut",
  cutAnswer: () => "cutAnswer",
  resetAll(proxy) {
    proxy.resetAll();
    return "cut";
  },
} satisfies Record<string, (proxy: PostgresProxy) => Action>;
type Break = keyof typeof BREAKS;
const KINDS = Object.keys(BREAKS) as Break[];
/** The number of statements that an outage cuts one after the other, such as repetitions. */
const OUTAGE = 5;

/** The database with its tables, to copy. */
const MIGRATED = "migrated";

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 200 });
  await createDatabase(server, undefined, MIGRATED);
  const store = await openPostgresStore({ database: databaseAt(server.url(MIGRATED)), clock: systemClock });
  await store.close();
});
afterAll(() => server.stop());

interface Disturbance {
  kind: Break;
  /** The number of the first statement that is disturbed, and how many are. */
  at: number;
  count: number;
}

/** Starts a process, and stops it when it is ready. @param template the database to copy, if not an empty one */
async function startOnce(name: string, template: string | undefined, disturbance?: Disturbance) {
  const { args, ready } = COMMANDS[name]!;
  const proxy = await postgresProxy(server.port);
  if (disturbance !== undefined) {
    const { kind, at, count } = disturbance;
    proxy.onStatement(({ index }) => (index >= at && index < at + count ? BREAKS[kind](proxy) : "pass"));
  }
  const child = spawn(
    process.execPath,
    [PROGRAM, ...args, ...(name === "worker" ? [] : ["--drain-delay", "0"])],
    {
      env: {
        ...process.env,
        ...databaseEnv(server, await createDatabase(server, template), proxy.port),
        MILLRACE_STATE_DIR: temporaryDirectory(),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const isReady = (): boolean => ready.test(text);
  await untilRecovered(() => {
    // What it printed so far tells why it is not ready.
    if (!isReady() && child.exitCode === null) throw new Error(`${name} is not ready: ${text}`);
  });
  const statements = proxy.statementCount();
  proxy.onStatement(() => "pass");
  child.kill("SIGTERM");
  await exited;
  return { isReady: isReady(), code: child.exitCode, statements, text };
}

const STARTS = Object.keys(COMMANDS).flatMap((name) => [
  [name, "an empty database", undefined, caseCount(1, 3)] as const,
  [name, "a database with its tables", MIGRATED, caseCount(4, 8)] as const,
]);

describe("connections that break at a statement of the start", () => {
  it.each(STARTS)("do not keep %s from starting on %s", async (name, _, template, cases) => {
    const random = seededRandom(testSeed(`start of ${name}`));
    const undisturbed = await startOnce(name, template);
    expect(undisturbed.isReady).toBe(true);
    const { statements } = undisturbed;
    const failed: string[] = [];
    const tryStart = async (disturbance: Disturbance): Promise<void> => {
      const { isReady, code, text } = await startOnce(name, template, disturbance);
      const { kind, at, count } = disturbance;
      if (!isReady || code !== 0)
        failed.push(`${kind} of ${count} from statement ${at} of ${statements}: ended with ${code}: ${text}`);
    };
    for (let part = 0; part < cases; part += 1) {
      // One statement of each of the equal parts of the start.
      const at = 1 + Math.floor(((part + random()) * statements) / cases);
      await tryStart({ kind: KINDS[Math.floor(random() * KINDS.length)]!, at, count: 1 });
      await tryStart({ kind: "cut", at, count: OUTAGE });
    }
    console.log(`start of ${name}: ${cases} parts of ${statements} statements`);
    expect(failed).toEqual([]);
  });
});
