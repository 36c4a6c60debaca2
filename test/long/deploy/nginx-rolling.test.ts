/** A rolling restart of the copies under load, which clients do not notice. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Replica, startDeployment, type Deployment } from "../../support/deployment.ts";
import { apiClient } from "../../support/http.ts";
import { openHttpsEventStream, keepAliveAgent, httpsRequest } from "../../support/https.ts";
import { connect, type McpClient, outputOf } from "../../support/mcp.ts";

const ROUNDS = 3;

interface Load {
  /** Number of answered requests by kind. */
  done: Record<string, number>;
  /** Descriptions of failures. */
  failed: string[];
  /** Number of streams that a stop ended, by kind. */
  reopened: Record<string, number>;
  /** The names of the workflows whose creation was acknowledged. */
  made: string[];
  running: boolean;
}

type Client = (number: number) => Promise<void>;

/** Repeats `work` until the load ends, and records every error as a failure. */
async function keepAsking(load: Load, kind: string, work: Client): Promise<void> {
  for (let i = 0; load.running; i += 1) {
    try {
      await work(i);
      load.done[kind] = (load.done[kind] ?? 0) + 1;
    } catch (error) {
      load.failed.push(`${new Date().toISOString()} ${kind}: ${String(error).slice(0, 300)}`);
      // A permanent failure must not fill the memory.
      await delay(100);
    }
  }
}

/** REST over one connection that stays open. */
function restClients({ url, key }: Deployment, load: Load): Promise<void>[] {
  const ask =
    (agent: ReturnType<typeof keepAliveAgent>) =>
    async (expected: readonly number[], method: string, path: string, body?: unknown) => {
      const answer = await httpsRequest(method, url + path, { headers: { "X-API-Key": key }, body, agent });
      if (!expected.includes(answer.status)) throw new Error(`${answer.status} ${answer.text}`);
      return JSON.parse(answer.text) as { id: string };
    };
  const readers = Array.from({ length: 3 }, (_, client) => {
    const call = ask(keepAliveAgent());
    const paths = ["/workflows?limit=3", "/environment", "/runs?limit=1"];
    return keepAsking(load, "GET", async (i) => void (await call([200], "GET", paths[(i + client) % 3]!)));
  });
  const writers = Array.from({ length: 3 }, (_, client) => {
    const call = ask(keepAliveAgent());
    return keepAsking(load, "POST and PATCH", async (i) => {
      const name = `rest ${client} ${i}`;
      const { id } = await call([201], "POST", "/workflows", { name, description: "" });
      load.made.push(name);
      await call([200], "PATCH", `/workflows/${id}`, { description: "changed" });
    });
  });
  const runner = ask(keepAliveAgent());
  const runs = keepAsking(load, "POST of a run", async () => {
    // A copy that stops answers waiting callers with 202 and the present state of the run.
    await runner([200, 202], "POST", "/workflows/quick/runs", { wait: 50 });
  });
  return [...readers, ...writers, runs];
}

/** MCP over one session for all calls, or without a session. */
async function mcpClient(
  { url, key }: Deployment,
  load: Load,
  way: Parameters<typeof connect>[0],
): Promise<void> {
  const client = await connect(way, url, key);
  return keepAsking(load, way, async (i) => {
    const name = `${way} ${i}`;
    outputOf(await client.call("create_workflow", { name, description: "" }));
    load.made.push(name);
    outputOf(await client.call("list_workflows", { limit: 1 }));
  });
}

/** The 2024-11-05 transport: a stream lives in one copy and ends with it; then the client connects again. */
async function sseClient({ url, key }: Deployment, load: Load): Promise<void> {
  let client: McpClient | undefined;
  await keepAsking(load, "v1 over SSE", async () => {
    client ??= await connect("v1 over SSE", url, key);
    const asked = client.call("list_workflows", { limit: 1 }, { signal: AbortSignal.timeout(3_000) });
    try {
      outputOf(await asked);
    } catch {
      // The stream has ended without the answer. A new connection must succeed.
      load.reopened["sse"] = (load.reopened["sse"] ?? 0) + 1;
      await client.close().catch(() => {});
      client = await connect("v1 over SSE", url, key);
      outputOf(await client.call("list_workflows", { limit: 1 }));
    }
  });
}

/** Follows the events of a run, and continues after the last one when the stream ends. */
async function follower({ url, key }: Deployment, load: Load, run: string): Promise<void> {
  let seen: string | undefined;
  while (load.running) {
    const last: Record<string, string> = seen === undefined ? {} : { "Last-Event-ID": seen };
    const events = await openHttpsEventStream(`${url}/runs/${run}/events`, { "X-API-Key": key, ...last });
    await Promise.race([events.closed, stopped(load)]);
    seen = [...events.text().matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? seen;
    if (load.running) load.reopened["events"] = (load.reopened["events"] ?? 0) + 1;
    events.close();
  }
}

async function stopped(load: Load): Promise<void> {
  while (load.running) await delay(50);
}

/** Number of requests to a copy in a period (ms since 1970). */
const askedAfter = ({ nginx }: Deployment, { port }: Replica, from: number, to: number): number =>
  nginx.accessLog().filter(({ copy, time }) => {
    const at = Date.parse(time);
    return copy.endsWith(`:${port}`) && at > from && at < to;
  }).length;

describe("copies behind nginx", () => {
  it("restart under load without a failed or repeated request", { timeout: 400_000 }, async () => {
    const deployment = await startDeployment();
    const { url, key, replicas } = deployment;
    const call = apiClient(url, key);
    const quick = { steps: [{ id: "pause", type: "wait", for: "1s" }] };
    const long = { steps: [{ id: "pause", type: "wait", for: "1h" }] };
    for (const [name, definition] of Object.entries({ quick, long }))
      expect((await call("POST", "/workflows", { name, description: "", definition })).status).toBe(201);
    const { body: run } = await call("POST", "/workflows/long/runs", {});

    const load: Load = { done: {}, failed: [], reopened: {}, made: [], running: true };
    const clients = [
      ...restClients(deployment, load),
      mcpClient(deployment, load, "v1 over Streamable HTTP"),
      mcpClient(deployment, load, "v2 pinned to 2026-07-28"),
      sseClient(deployment, load),
      sseClient(deployment, load),
      follower(deployment, load, run.id as string),
    ];
    const late: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // One copy of each server, then the other, without a pause: the worst case.
      for (const pair of [
        [replicas[0]!, replicas[2]!],
        [replicas[1]!, replicas[3]!],
      ]) {
        const from = Date.now();
        await Promise.all(pair.map((copy) => copy.restart()));
        // Between 3 s and 10 s after SIGTERM nginx sends it no requests.
        for (const copy of pair) late.push(askedAfter(deployment, copy, from + 3_000, from + 10_000));
      }
    }
    load.running = false;
    await Promise.all(clients);

    const requests = Object.values(load.done).reduce((sum, count) => sum + count, 0);
    console.info({ requests, ...load.done, streams_reopened: load.reopened, late });
    expect(load.failed).toEqual([]);
    expect(requests).toBeGreaterThan(1_000);
    const names = new Map<string, number>();
    for (const { name } of (await call("GET", "/workflows")).body as { name: string }[])
      names.set(name, (names.get(name) ?? 0) + 1);
    expect(load.made.filter((name) => names.get(name) !== 1)).toEqual([]);
    expect(names.size).toBe(load.made.length + 2);
    // The first pair stops while all copies are healthy; later ones may stop while nginx still avoids the other.
    expect(late.slice(0, 2)).toEqual([0, 0]);
    expect(deployment.nginx.errorLog()).not.toMatch(/no live upstreams/);
  });
});
