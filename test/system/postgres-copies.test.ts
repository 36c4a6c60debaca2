import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { apiClient, type ApiClient } from "../support/http.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { type Program, runHere, startProgram, startWorker } from "../support/process.ts";

const LEASE_MS = 10_000;
/** How long a condition may take, in milliseconds. */
const LIMIT_MS = 60_000;

const untilPassing = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: LIMIT_MS, interval: 20 });

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres({ maxConnections: 200 });
});
afterAll(() => server.stop());

/** A server that answers each call after the milliseconds in its path, and counts the calls by path. */
async function slowServer() {
  const calls = new Map<string, number>();
  const http = createServer((request, response) => {
    calls.set(request.url!, (calls.get(request.url!) ?? 0) + 1);
    const [, ms] = request.url!.split("/");
    setTimeout(() => response.end("{}"), Number(ms));
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => void http.close());
  return { host: `127.0.0.1:${(http.address() as AddressInfo).port}`, calls };
}

let databases = 0;

/** Two of each server and two executors on one new database, each with a state directory of its own. */
async function copies() {
  const admin = await server.connect();
  databases += 1;
  const name = `copies_${databases}`;
  await admin.query(`create database ${name}`);
  await admin.end();
  const slow = await slowServer();
  const directory = temporaryDirectory();
  const config = join(directory, "config.yaml");
  writeFileSync(
    config,
    `http:\n  allowed_hosts: ["${slow.host}"]\nlimits:\n  min_schedule_interval: 1s\napprovals:\n  by_starter: true\n`,
  );
  const env = {
    MILLRACE_CONFIG: config,
    MILLRACE_DATABASE_URL: server.url(name),
    MILLRACE_DATABASE_PASSWORD: PASSWORD,
    MILLRACE_DATABASE_CONNECTIONS: "6",
  };
  const stateDir = (copy: string): string => {
    const path = join(directory, copy);
    mkdirSync(path, { mode: 0o700 });
    return path;
  };
  const key = (
    await runHere(
      ["keys", "create", "--name", "ci", "--scope", "read", "write", "publish", "run", "approve"],
      {
        ...env,
        MILLRACE_STATE_DIR: stateDir("cli"),
      },
    )
  ).out.trim();
  const start = (command: "serve" | "mcp-sse", copy: string): Promise<Program> =>
    startProgram(command, stateDir(copy), { args: ["--workers", "0", "--drain-delay", "0"], env });
  const [web, mcp, workers] = await Promise.all([
    Promise.all([start("serve", "web-1"), start("serve", "web-2")]),
    Promise.all([start("mcp-sse", "mcp-1"), start("mcp-sse", "mcp-2")]),
    Promise.all(["worker-1", "worker-2"].map((copy) => startWorker(stateDir(copy), { env }))),
  ]);
  const clients = web.map(({ url }) => apiClient(url, key)) as [ApiClient, ApiClient];
  return { web, mcp, workers, clients, key, slow, start };
}

const sum = { steps: [{ id: "sum", type: "set", values: { total: "${{ 1 + 2 }}" } }] };

async function define(api: ApiClient, name: string, definition: object): Promise<string> {
  const { status, body } = await api("POST", "/workflows", { name, definition });
  expect([status, body]).toEqual([201, expect.anything()]);
  return (body as { id: string }).id;
}

const startRun = async (api: ApiClient, workflow: string, body: object = {}) =>
  (await api<{ id: string }>("POST", `/workflows/${workflow}/runs`, body)).body.id;

/** Waits for the end of a run, through failures of the server. */
async function ended(api: ApiClient, run: string) {
  let found: { status: string; output?: unknown; error?: unknown } | undefined;
  await untilPassing(async () => {
    const { status, body } = await api("GET", `/runs/${run}`);
    expect(status).toBe(200);
    found = body as typeof found;
    expect(["succeeded", "failed", "cancelled"]).toContain(found!.status);
  });
  return found!;
}

describe("copies on several machines with PostgreSQL", () => {
  it("share workflows, runs, approvals, idempotency keys, MCP sessions and schedules", async () => {
    const { clients, mcp, key } = await copies();
    const [a, b] = clients;
    const id = await define(a, "Sum", sum);
    expect((await b("GET", "/workflows")).body).toHaveLength(1);
    const changed = await b("PATCH", `/workflows/${id}`, { description: "Adds." }, { "If-Match": '"1"' });
    expect(changed.status).toBe(200);
    expect(
      (await a("PATCH", `/workflows/${id}`, { description: "Late." }, { "If-Match": '"1"' })).status,
    ).toBe(412);

    // A run that one copy starts and the other one waits for.
    const run = await startRun(a, id);
    expect(await ended(b, run)).toMatchObject({ status: "succeeded" });

    // One effect for one idempotency key, whichever copies get it at the same time.
    const repeated = await Promise.all(
      [a, b, a, b].map((api) => api("POST", "/workflows", { name: "Once" }, { "Idempotency-Key": "once-1" })),
    );
    expect(new Set(repeated.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    expect((await a("GET", "/workflows")).body).toHaveLength(2);

    const approval = await define(a, "Ask", {
      steps: [{ id: "ask", type: "approval", message: "Go on?" }, ...sum.steps],
    });
    const [asked, cancelled] = [await startRun(a, approval), await startRun(a, approval)];
    let pending: { id: string; run_id: string }[] = [];
    await untilPassing(async () => {
      const { body } = await b<{ items: typeof pending } | typeof pending>(
        "GET",
        "/approvals?status=pending",
      );
      pending = Array.isArray(body) ? body : body.items;
      expect(pending).toHaveLength(2);
    });
    const { id: approvalId } = pending.find((one) => one.run_id === asked)!;
    expect((await b("POST", `/approvals/${approvalId}`, { decision: "approve" })).status).toBeLessThan(300);
    expect((await b("POST", `/runs/${cancelled}/cancel`, {})).status).toBeLessThan(300);
    expect(await ended(a, asked)).toMatchObject({ status: "succeeded" });
    expect(await ended(a, cancelled)).toMatchObject({ status: "cancelled" });

    // A session that one copy opens is known to the other one.
    const headers = {
      "X-API-Key": key,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    const call = (copy: number, body: object, session?: string) =>
      fetch(`${mcp[copy]!.url}/mcp`, {
        method: "POST",
        headers: { ...headers, ...(session !== undefined && { "Mcp-Session-Id": session }) },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      });
    const initialized = await call(0, {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    });
    const session = initialized.headers.get("mcp-session-id") ?? undefined;
    await initialized.text();
    const listed = await call(
      1,
      { id: 2, method: "tools/call", params: { name: "list_workflows", arguments: {} } },
      session,
    );
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining("Once") as string]);

    const scheduled = await define(a, "Tick", {
      ...sum,
      schedule: { cron: "* * * * * *", timezone: "Europe/Berlin", overlap: "skip" },
    });
    expect((await b("POST", `/workflows/${scheduled}/publish`, {})).status).toBeLessThan(300);
    let ticks: { scheduled_for: string }[] = [];
    await untilPassing(async () => {
      const { body } = await a<{ items: typeof ticks } | typeof ticks>(
        "GET",
        `/runs?workflow_id=${scheduled}`,
      );
      ticks = Array.isArray(body) ? body : body.items;
      expect(ticks.length).toBeGreaterThan(4);
    });
    expect(new Set(ticks.map((tick) => tick.scheduled_for)).size).toBe(ticks.length);
  });

  it("lose time and no runs while the server is away", async () => {
    const { clients, slow, web, workers, start } = await copies();
    const [a, b] = clients;
    const id = await define(a, "Slow", {
      inputs: { type: "object", properties: { n: { type: "integer" } } },
      steps: [
        { id: "call", type: "http", method: "POST", url: `http://${slow.host}/2000/\${{ inputs.n }}` },
        { id: "wait", type: "wait", for: "1s" },
        ...sum.steps,
      ],
    });
    const runs = await Promise.all([1, 2, 3, 4].map((n) => startRun(n % 2 ? a : b, id, { inputs: { n } })));
    await untilPassing(() => expect(slow.calls.size).toBe(4));
    await server.stopServer();
    // The calls end meanwhile.
    await delay(5_000);
    const refused = await a("POST", `/workflows/${id}/runs`, { inputs: { n: 9 } });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await fetch(`${web[0].url}/health`)).status).toBe(503);
    // A copy that starts meanwhile waits.
    const late = start("serve", "web-3");
    await delay(2_000);
    await server.startServer();
    expect((await fetch(`${(await late).url}/health`)).status).toBe(200);
    for (const run of runs) expect(await ended(b, run)).toMatchObject({ status: "succeeded" });
    expect([...slow.calls.values()]).toEqual([1, 1, 1, 1]);
    await untilPassing(async () => expect((await fetch(`${web[1].url}/health`)).status).toBe(200));
    for (const { child } of workers) expect(child.exitCode).toBeNull();
    expect(await ended(b, await startRun(a, id, { inputs: { n: 5 } }))).toMatchObject({
      status: "succeeded",
    });
  });

  it("execute the jobs of a killed executor after one and a half leases at most", async () => {
    const { clients, slow, workers } = await copies();
    const [a, b] = clients;
    const id = await define(a, "Slow", {
      inputs: { type: "object", properties: { n: { type: "integer" } } },
      steps: [
        {
          id: "call",
          type: "http",
          method: "GET",
          url: `http://${slow.host}/4000/\${{ inputs.n }}`,
          retry: { attempts: 3 },
        },
      ],
    });
    const runs = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => startRun(a, id, { inputs: { n } })));
    await untilPassing(() => expect(slow.calls.size).toBe(8));
    const [killed, survivor] = workers;
    killed!.child.kill("SIGKILL");
    const killedAt = performance.now();
    await untilPassing(() => expect(survivor!.log()).toContain("lease expired, jobs reclaimed"));
    expect(performance.now() - killedAt).toBeLessThan(1.5 * LEASE_MS);
    for (const run of runs) expect(await ended(b, run)).toMatchObject({ status: "succeeded" });
  });
});
