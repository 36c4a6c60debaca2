import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/directories.ts";
import { eventually } from "../support/eventually.ts";
import { apiClient } from "../support/http.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { runHere, startProgram, startWorker } from "../support/process.ts";

const RUNS = 40;
/** Clients that start runs at the same time. */
const CLIENTS = 4;
/** Fewer than a process opens, so that each transaction may get another connection of the server. */
const SERVER_CONNECTIONS = 3;

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** A listener and an executor whose transactions go through PgBouncer. @param listens whether one connection leads to the server itself */
async function startBehindPooler(name: string, { listens }: { listens: boolean }) {
  const admin = await server.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const pooler = await startPgBouncer(server, { serverConnections: SERVER_CONNECTIONS });
  const config = join(temporaryDirectory(), "config.yaml");
  writeFileSync(config, "approvals:\n  by_starter: true\n");
  const env = {
    MILLRACE_CONFIG: config,
    MILLRACE_DATABASE_URL: pooler.url(name),
    MILLRACE_DATABASE_PASSWORD: PASSWORD,
    MILLRACE_STATE_DIR: temporaryDirectory(),
    ...(listens && { MILLRACE_DATABASE_LISTEN_URL: server.url(name) }),
  };
  const scopes = ["read", "write", "publish", "run", "approve"];
  const created = await runHere(["keys", "create", "--name", "ci", "--scope", ...scopes], env);
  expect([created.code, created.err]).toEqual([0, ""]);
  const [listener, executor] = await Promise.all([
    startProgram("serve", temporaryDirectory(), { args: ["--workers", "0", "--drain-delay", "0"], env }),
    startWorker(temporaryDirectory(), { env }),
  ]);
  return { pooler, env, listener, executor, api: apiClient(listener.url, created.out.trim()) };
}

type Api = Awaited<ReturnType<typeof startBehindPooler>>["api"];

/** Runs that proceed together, with an approval in some of them. @returns the outputs in order */
async function useRuns(api: Api): Promise<number[]> {
  const { status, body: workflow } = await api("POST", "/workflows", {
    name: "Steps",
    definition: {
      inputs: { type: "object", properties: { n: { type: "integer" } } },
      steps: [
        { id: "first", type: "set", values: { n: "${{ inputs.n + 1 }}" } },
        { id: "ask", type: "approval", message: "Continue?", if: "${{ inputs.n % 20 == 0 }}" },
        { id: "last", type: "set", values: { n: "${{ steps.first.n * 2 }}" } },
      ],
      output: "${{ steps.last.n }}",
    },
  });
  expect([status, workflow.issues]).toEqual([201, []]);
  const runs: string[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let n = next++; n < RUNS; n = next++) {
        const started = await api("POST", `/workflows/${workflow.id}/runs`, { inputs: { n } });
        expect([started.status, started.body]).toEqual([202, expect.anything()]);
        runs[n] = started.body.id as string;
      }
    }),
  );
  const pending = await eventually(async () => {
    const { body } = await api("GET", "/approvals?status=pending");
    return body.length === RUNS / 20 ? (body as { id: string }[]) : undefined;
  }, "the approvals");
  for (const { id } of pending)
    expect((await api("POST", `/approvals/${id}`, { decision: "approve" })).status).toBe(200);
  return Promise.all(
    runs.map((id) =>
      eventually(async () => {
        const { body } = await api("GET", `/runs/${id}`);
        expect(["queued", "running", "waiting", "succeeded"]).toContain(body.status);
        return body.status === "succeeded" ? (body.output as number) : undefined;
      }, `the end of ${id}`),
    ),
  );
}

const OUTPUTS = Array.from({ length: RUNS }, (_, n) => (n + 1) * 2);

async function notifications(env: Record<string, string>) {
  const { out } = await runHere(["doctor", "--json"], env);
  return (JSON.parse(out) as { check: string; status: string; detail: string; fix?: string }[]).find(
    ({ check }) => check === "notifications",
  );
}

describe("PgBouncer in transaction mode", () => {
  it("carries everything but notifications, for which processes look twice a second", async () => {
    const { api, env, listener, executor, pooler } = await startBehindPooler("polling", { listens: false });
    expect(await useRuns(api)).toEqual(OUTPUTS);
    expect(await notifications(env)).toMatchObject({
      status: "warning",
      detail: expect.stringContaining(
        "MILLRACE_DATABASE_URL leads through a pooler of transactions",
      ) as string,
      fix: expect.stringContaining("MILLRACE_DATABASE_LISTEN_URL") as string,
    });
    // More clients than connections of the server: they shared them.
    expect(await serverConnections("polling")).toBe(SERVER_CONNECTIONS);
    for (const log of [listener.log(), executor.log()]) expect(log).not.toMatch(/"level":"(warn|error)"/);
    expect(pooler.log()).not.toContain("unsupported");
  });

  it("leaves the notifications to a connection to the server itself", async () => {
    const { api, env, listener, executor } = await startBehindPooler("listening", { listens: true });
    expect(await useRuns(api)).toEqual(OUTPUTS);
    expect(await notifications(env)).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("arrive at MILLRACE_DATABASE_LISTEN_URL") as string,
    });
    for (const log of [listener.log(), executor.log()]) expect(log).not.toMatch(/"level":"(warn|error)"/);
    const other = { ...env, MILLRACE_DATABASE_LISTEN_URL: server.url("postgres") };
    expect(await notifications(other)).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("another database") as string,
    });
    const missing = { ...env, MILLRACE_DATABASE_LISTEN_URL: server.url("missing") };
    expect(await notifications(missing)).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("no connection") as string,
    });
  });
});

/** The connections of PgBouncer to a database, which are those of the server without `listen` of ours. */
async function serverConnections(database: string): Promise<number> {
  const admin = await server.connect();
  const { rows } = await admin.query<{ count: string }>(
    "select count(*) as count from pg_stat_activity where datname = $1",
    [database],
  );
  await admin.end();
  return Number(rows[0]!.count);
}
