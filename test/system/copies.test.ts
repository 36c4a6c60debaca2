/** Three copies of each process behind a round-robin without cookies, on SQLite and on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserApi } from "../support/browser-api.ts";
import { lostOrRepeated, SSE_CLIENTS, startLoad } from "../support/constant-load.ts";
import { type RunningCopies, startCopies } from "../support/copies.ts";
import {
  concurrentCreates,
  crud,
  mcpSession,
  oneEffect,
  relayedMessages,
  revocation,
} from "../support/copy-scenarios.ts";
import { eventually } from "../support/eventually.ts";
import { type ApiClient, apiClient } from "../support/http.ts";
import { CLIENT_NAMES } from "../support/mcp.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { runHere } from "../support/process.ts";
import { openEventStream } from "../support/raw-http.ts";
import { PASSWORD } from "../support/web.ts";

const COUNT = 3;
const ALL = [0, 1, 2];
/** How long a condition may take, in milliseconds. */
const LIMIT_MS = 60_000;
/** How long a test may take on a busy machine, in milliseconds. */
const TEST_MS = 400_000;
const UNFINISHED_RUNS = 20;
const CONFIG = {
  limits: { min_schedule_interval: "1s", per_key: { unfinished_runs: UNFINISHED_RUNS } },
  approvals: { by_starter: true },
};
const ADMIN_SCOPES = ["--scope", "read", "write", "publish", "run", "approve"];

const set = (id: string) => ({ id, type: "set", values: { total: "${{ 1 + 2 }}" } });
const ask = { id: "ask", type: "approval", message: "Go on?" };

async function define(call: ApiClient, name: string, definition: object): Promise<string> {
  const { status, body } = await call("POST", "/workflows", { name, definition });
  expect([status, body.issues]).toEqual([201, []]);
  return body.id as string;
}

const start = async (call: ApiClient, workflow: string): Promise<string> => {
  const { status, body } = await call("POST", `/workflows/${workflow}/runs`, {});
  expect(status).toBe(202);
  return body.id as string;
};

const ended = (call: ApiClient, run: string): Promise<string> =>
  eventually(
    async () => {
      const { body } = await call("GET", `/runs/${run}`);
      return ["succeeded", "failed", "cancelled"].includes(body.status as string)
        ? (body.status as string)
        : undefined;
    },
    `the end of ${run}`,
    LIMIT_MS,
  );

const pendingApproval = (call: ApiClient, run: string): Promise<string> =>
  eventually(
    async () => {
      const { body } = await call("GET", `/runs/${run}`);
      return body.approvals?.[0]?.id as string | undefined;
    },
    "an approval",
    LIMIT_MS,
  );

/** Each copy shows the run of another one live, and any copy decides and cancels it. */
async function runsOfOthers({ web, createKey }: RunningCopies): Promise<void> {
  const key = await createKey("person", ...ADMIN_SCOPES);
  const [a, b, c] = web.map((url) => apiClient(url, key)) as [ApiClient, ApiClient, ApiClient];
  const workflow = await define(a, "Ask", { steps: [set("first"), ask, set("last")] });
  const run = await start(a, workflow);
  const streams = await Promise.all(
    web.map((url) => openEventStream("GET", `${url}/runs/${run}/events`, { headers: { "X-API-Key": key } })),
  );
  await Promise.all(
    streams.map((stream) => stream.waitFor(/"id":"ask","type":"approval","status":"waiting"/)),
  );
  const approval = await pendingApproval(b, run);
  // Two copies get a decision each at the same time: one of them counts.
  const decisions = await Promise.all([
    b("POST", `/approvals/${approval}`, { decision: "approve" }),
    c("POST", `/approvals/${approval}`, { decision: "approve" }),
  ]);
  expect(decisions.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
  for (const stream of streams) {
    await stream.waitFor(/^event: end$[^]*"status":"succeeded"/m);
    expect(stream.text()).toMatch(/"id":"last"[^\n]*"status":"succeeded"/);
  }

  const cancelled = await start(a, workflow);
  await pendingApproval(b, cancelled);
  expect((await c("POST", `/runs/${cancelled}/cancel`, {})).status).toBeLessThan(300);
  expect(await ended(a, cancelled)).toBe("cancelled");

  // One idempotency key starts one run, whichever copies get it.
  const repeated = await Promise.all(
    [a, b, c, a, b, c].map((call) =>
      call("POST", `/workflows/${workflow}/runs`, {}, { "Idempotency-Key": "one-run" }),
    ),
  );
  expect(new Set(repeated.map(({ body }) => body.id as string)).size).toBe(1);
}

async function schedule({ web, createKey }: RunningCopies): Promise<void> {
  const key = await createKey("scheduler", ...ADMIN_SCOPES);
  const [a, b] = web.map((url) => apiClient(url, key)) as [ApiClient, ApiClient];
  const workflow = await define(a, "Tick", {
    steps: [set("sum")],
    schedule: { cron: "* * * * * *", timezone: "Europe/Berlin", overlap: "skip" },
  });
  expect((await b("POST", `/workflows/${workflow}/publish`, {})).status).toBeLessThan(300);
  const ticks = await eventually(
    async () => {
      const { body } = await b("GET", `/runs?workflow_id=${workflow}&limit=100`);
      return body.length > 5 ? (body as { scheduled_for: string }[]) : undefined;
    },
    "six runs of a schedule",
    LIMIT_MS,
  );
  expect(new Set(ticks.map((tick) => tick.scheduled_for)).size).toBe(ticks.length);
}

/** One of several first admins is created; a session of one copy is valid, and ends, on all of them. */
async function accounts({ web, env }: RunningCopies): Promise<void> {
  const { out } = await runHere(["users", "setup-link"], env);
  const token = out.trim().split("#")[1]!;
  const attempts = await Promise.all(
    [...web, ...web].map(async (url, index) => {
      const email = `admin${index}@example.com`;
      const browser = browserApi(url);
      const { status } = await browser.request("POST", "/session/setup", {
        token,
        email,
        password: PASSWORD,
      });
      return { email, status };
    }),
  );
  const created = attempts.filter(({ status }) => status === 201);
  expect(created).toHaveLength(1);
  const { email } = created[0]!;

  const here = browserApi(web[0]!);
  expect((await here.request("POST", "/session", { email, password: PASSWORD })).status).toBe(200);
  const everywhere = web.map((url) => browserApi(url, here.cookie));
  const statuses = async (): Promise<number[]> =>
    Promise.all(everywhere.map(async ({ request }) => (await request("GET", "/session")).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  // A write with the session of another copy.
  expect((await everywhere[1]!.request("POST", "/workflows", { name: "By a person" })).status).toBe(201);
  const there = browserApi(web[2]!, here.cookie);
  expect((await there.request("DELETE", "/session")).status).toBe(204);
  expect(await statuses()).toEqual([401, 401, 401]);

  // Guesses at a password are counted over all copies.
  const guesses = [];
  for (let guess = 0; guess < 6; guess += 1) {
    const wrong = { email, password: "not the right one" };
    guesses.push((await browserApi(web[guess % COUNT]!).request("POST", "/session", wrong)).status);
  }
  expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
}

async function limits({ rest, createKey }: RunningCopies): Promise<void> {
  const call = apiClient(rest.url, await createKey("limited"));
  const workflow = await define(call, "Long", { steps: [{ id: "wait", type: "wait", for: "1h" }] });
  const answers = await Promise.all(
    Array.from({ length: UNFINISHED_RUNS + 10 }, () => call("POST", `/workflows/${workflow}/runs`, {})),
  );
  const counts = Map.groupBy(answers, ({ status }) => status);
  expect([counts.get(202)?.length, counts.get(429)?.length]).toEqual([UNFINISHED_RUNS, 10]);
}

/** Stops and starts each process in turn. */
async function restartAll({ listeners, workers }: RunningCopies): Promise<void> {
  for (let copy = 0; copy < COUNT; copy += 1) {
    await Promise.all([
      listeners[copy]!.restart(),
      listeners[COUNT + copy]!.restart(),
      workers[copy]!.restart(),
    ]);
  }
}

describe.each(["SQLite", "PostgreSQL"])("three copies of each process on %s", (store) => {
  let postgres: Postgres | undefined;
  beforeAll(async () => {
    if (store === "PostgreSQL") postgres = await startPostgres({ maxConnections: 200 });
  });
  afterAll(() => postgres?.stop());

  it("are as one for every client", { timeout: TEST_MS }, async () => {
    const copies = await startCopies({ count: COUNT, postgres, config: CONFIG });
    expect(await crud(copies)).toEqual(ALL);
    for (const way of CLIENT_NAMES) expect([way, await mcpSession(copies, way)]).toEqual([way, ALL]);
    expect(await relayedMessages(copies)).toBeGreaterThan(5);
    expect(await concurrentCreates(copies)).toEqual(ALL);
    expect(await oneEffect(copies)).toEqual(ALL);
    await runsOfOthers(copies);
    await schedule(copies);
    await accounts(copies);
    await limits(copies);
    expect(await revocation(copies)).toEqual(ALL);
  });

  it(
    "restart one after the other under load without a failed or repeated request",
    { timeout: TEST_MS },
    async () => {
      const copies = await startCopies({ count: COUNT, postgres, config: CONFIG });
      const { rest, mcp, key } = copies;
      const { load, stop } = await startLoad({ url: rest.url, mcpUrl: mcp.url, key });
      await restartAll(copies);
      await stop();
      const requests = Object.values(load.done).reduce((sum, count) => sum + count, 0);
      console.info({ requests, ...load.done, streams_reopened: load.reopened });
      expect(load.failed).toEqual([]);
      expect(load.reopened["sse"] ?? 0).toBeLessThanOrEqual(SSE_CLIENTS * COUNT);
      expect(requests).toBeGreaterThan(500);
      const call = apiClient(rest.url, key);
      expect(await lostOrRepeated(load, call)).toEqual([]);
      // No run failed because its executor was restarted.
      for (const status of ["failed", "cancelled"])
        expect((await call("GET", `/runs?status=${status}`)).body).toEqual([]);
    },
  );
});
