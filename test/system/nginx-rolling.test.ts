/** Copies that are stopped and started again, one after the other, while everybody goes on: nobody notices. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Replica, startDeployment, type Deployment } from "../support/deployment.ts";
import { apiClient } from "../support/http.ts";
import { openHttpsEventStream, keepAliveAgent, httpsRequest } from "../support/https.ts";
import { connect, type McpClient, outputOf } from "../support/mcp.ts";

const ROUNDS = 3;

interface Load {
  /** How often each kind of request was answered. */
  done: Record<string, number>;
  /** What went wrong, in words. */
  failed: string[];
  /** How often a stream was ended by a stop. */
  reopened: Record<string, number>;
  /** The names of the workflows whose making was acknowledged. */
  made: string[];
  running: boolean;
}

type Client = (number: number) => Promise<void>;

/** Does `work` over and over until the load ends; whatever it throws is a failure. */
async function keepAsking(load: Load, kind: string, work: Client): Promise<void> {
  for (let i = 0; load.running; i += 1) {
    try {
      await work(i);
      load.done[kind] = (load.done[kind] ?? 0) + 1;
    } catch (error) {
      load.failed.push(`${new Date().toISOString()} ${kind}: ${String(error).slice(0, 300)}`);
      // So that what fails for good does not fill the memory.
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
    // A copy that closes does not let its callers wait on: 202, with the run as it is.
    await runner([200, 202], "POST", "/workflows/quick/runs", { wait: 50 });
  });
  return [...readers, ...writers, runs];
}

/** MCP over one session, or none, that lasts from the first call to the last. */
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
      // Its stream is gone, and with it the answer. It begins anew; that must go well.
      load.reopened["sse"] = (load.reopened["sse"] ?? 0) + 1;
      await client.close().catch(() => {});
      client = await connect("v1 over SSE", url, key);
      outputOf(await client.call("list_workflows", { limit: 1 }));
    }
  });
}

/** Follows a run by its events, and goes on behind the last one where the stream ended. */
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

/** Those that were asked for something after `from` (ms since 1970), by their port: how often. */
const askedAfter = ({ nginx }: Deployment, { port }: Replica, from: number, to: number): number =>
  nginx.accessLog().filter(({ copy, time }) => {
    const at = Date.parse(time);
    return copy.endsWith(`:${port}`) && at > from && at < to;
  }).length;

describe("copies behind nginx", () => {
  it(
    "are stopped and started again under load without one failed request, or one done twice",
    { timeout: 400_000 },
    async () => {
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
        // One of each server, then the other, without a pause: as careless as an operator can be.
        for (const pair of [
          [replicas[0]!, replicas[2]!],
          [replicas[1]!, replicas[3]!],
        ]) {
          const from = Date.now();
          await Promise.all(pair.map((copy) => copy.restart()));
          // From 3 s after SIGTERM to the end of the first 10 s, in which it is left alone.
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
      // The first pair is stopped with everything at rest; later ones while the other may still be left alone.
      expect(late.slice(0, 2)).toEqual([0, 0]);
      expect(deployment.nginx.errorLog()).not.toMatch(/no live upstreams/);
    },
  );
});
