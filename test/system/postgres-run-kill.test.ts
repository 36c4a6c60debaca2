import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/directories.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { testSeed } from "../support/random.ts";
import { runChaos } from "../support/run-chaos.ts";
import { postgresAccess } from "../support/state-access.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";

const ROUNDS = Number(process.env["MILLRACE_TEST_ROUNDS"] ?? 30);
/** How long the test may take, in milliseconds. */
const LIMIT_MS = 240_000 + ROUNDS * 10_000;

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 300 });
});
afterAll(() => server.stop());

describe("kill -9, stopped processes, a server that is restarted and killed, and cut connections during runs", () => {
  it(
    "lose no run in PostgreSQL, end each once, repeat no recorded step, and fire schedules once",
    async () => {
      const seed = testSeed("runs on PostgreSQL");
      const admin = await server.connect();
      await admin.query("create database chaos");
      await admin.end();
      const proxy = await tcpProxy(server.port);
      const url = new URL(server.url("chaos"));
      url.port = String(proxy.port);
      const counts = { restarted: 0, killed: 0, cut: 0, stalled: 0 };
      const { issues, happened, seen, runs, clientRuns, calls, events, logs } = await runChaos(
        {
          seed,
          stateDir: temporaryDirectory(),
          database: postgresAccess(server.url("chaos"), PASSWORD),
          env: {
            MILLRACE_DATABASE_URL: url.href,
            MILLRACE_DATABASE_PASSWORD: PASSWORD,
            MILLRACE_DATABASE_CONNECTIONS: "6",
          },
          executors: 3,
          listeners: 2,
          leaseMs: 1_500,
          extraShare: 0.4,
          extraDisruptions: [
            async (next) => {
              await server.stopServer();
              await delay(next() * 2_000);
              await server.startServer();
              counts.restarted += 1;
            },
            async (next) => {
              await server.killServer();
              await delay(next() * 2_000);
              await server.startServer();
              counts.killed += 1;
            },
            async () => {
              proxy.resetConnections();
              counts.cut += 1;
            },
            async (next) => {
              proxy.stall();
              await delay(200 + next() * 1_500);
              proxy.resume();
              proxy.resetConnections();
              counts.stalled += 1;
            },
          ],
        },
        ROUNDS,
      );
      console.log(`runs: ${runs} + ${clientRuns} acknowledged, ${calls} calls, ${events} events;`, {
        ...happened,
        ...seen,
        ...counts,
      });
      expect(issues).toEqual([]);
      // Only errors about the database are allowed.
      const expected = /storage_unavailable|busy|not recorded|database/i;
      expect(logs.filter((line) => !expected.test(line))).toEqual([]);
      expect(Object.values(happened).reduce((sum, count) => sum + count, 0)).toBe(ROUNDS);
      expect(runs + clientRuns).toBeGreaterThan(ROUNDS);
    },
    LIMIT_MS,
  );
});
