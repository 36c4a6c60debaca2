/** Clients that call several copies all the time, and notice each failure. */
import { setTimeout as delay } from "node:timers/promises";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { type ApiClient, apiClient } from "./http.ts";
import { connect, type McpClient, outputOf } from "./mcp.ts";

/** What the clients have done. */
export interface Load {
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

/** Where the clients call. */
interface Target {
  /** Of the HTTP API. */
  url: string;
  mcpUrl: string;
  key: string;
}

/** How many of the clients have streams. */
export const SSE_CLIENTS = 2;
/** After this time, in milliseconds, the answer on a stream is lost with the stream. */
const ANSWER_MS = 10_000;

/** A workflow that the load runs all the time. */
const QUICK = { steps: [{ id: "pause", type: "wait", for: "1s" }] };

/**
 * Starts clients of all kinds, which go on until `stop`.
 * @returns what they have done so far, and a function that ends them
 */
export async function startLoad(target: Target): Promise<{ load: Load; stop(): Promise<void> }> {
  const call = apiClient(target.url, target.key);
  const { status } = await call("POST", "/workflows", { name: "quick", description: "", definition: QUICK });
  if (status !== 201) throw new Error(`The workflow of the load was refused with ${status}.`);
  const load: Load = { done: {}, failed: [], reopened: {}, made: ["quick"], running: true };
  const clients = [
    ...restClients(call, load),
    mcpClient(target, load, "v1 over Streamable HTTP"),
    mcpClient(target, load, "v2 pinned to 2026-07-28"),
    ...Array.from({ length: SSE_CLIENTS }, () => sseClient(target, load)),
  ];
  return {
    load,
    async stop() {
      load.running = false;
      await Promise.all(clients);
    },
  };
}

/** Returns the acknowledged workflows that are not there exactly once. */
export async function lostOrRepeated({ made }: Load, call: ApiClient): Promise<string[]> {
  const names = new Map<string, number>();
  for (const { name } of (await call("GET", "/workflows")).body as { name: string }[])
    names.set(name, (names.get(name) ?? 0) + 1);
  return made.filter((name) => names.get(name) !== 1);
}

/** Repeats `work` until the load ends, and records every error as a failure. */
async function keepAsking(load: Load, kind: string, work: (number: number) => Promise<void>): Promise<void> {
  for (let i = 0; load.running; i += 1) {
    try {
      await work(i);
      load.done[kind] = (load.done[kind] ?? 0) + 1;
    } catch (error) {
      load.failed.push(`${new Date().toISOString()} ${kind}: ${describe(error)}`);
      // A permanent failure must not fill the memory.
      await delay(100);
    }
  }
}

/** An error of a connection is the cause of the error of `fetch`. */
const describe = (error: unknown): string =>
  `${String(error)} ${String((error as { cause?: Error }).cause?.message)}`.slice(0, 300);

/** REST over connections that stay open. */
function restClients(call: ApiClient, load: Load): Promise<void>[] {
  const ask = async (expected: readonly number[], method: string, path: string, body?: unknown) => {
    const answer = await call<{ id: string }>(method, path, body);
    if (!expected.includes(answer.status))
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)} for ${method} ${path}`);
    return answer.body;
  };
  const readers = Array.from({ length: 3 }, (_, client) => {
    const paths = ["/workflows?limit=3", "/environment", "/runs?limit=1"];
    return keepAsking(load, "GET", async (i) => void (await ask([200], "GET", paths[(i + client) % 3]!)));
  });
  const writers = Array.from({ length: 3 }, (_, client) =>
    keepAsking(load, "POST and PATCH", async (i) => {
      const name = `rest ${client} ${i}`;
      const { id } = await ask([201], "POST", "/workflows", { name, description: "" });
      load.made.push(name);
      await ask([200], "PATCH", `/workflows/${id}`, { description: "changed" });
    }),
  );
  const runs = keepAsking(load, "POST of a run", async () => {
    // A copy that stops answers waiting callers with 202 and the present state of the run.
    await ask([200, 202], "POST", "/workflows/quick/runs", { wait: 50 });
  });
  return [...readers, ...writers, runs];
}

/** MCP over one session for all calls, or without a session. */
async function mcpClient(
  { mcpUrl, key }: Target,
  load: Load,
  way: Parameters<typeof connect>[0],
): Promise<void> {
  const client = await connect(way, mcpUrl, key);
  return keepAsking(load, way, async (i) => {
    const name = `${way} ${i}`;
    outputOf(await client.call("create_workflow", { name, description: "" }));
    load.made.push(name);
    outputOf(await client.call("list_workflows", { limit: 1 }));
  });
}

const REQUEST_TIMEOUT: number = ErrorCode.RequestTimeout;

const isTimeout = (error: unknown): boolean => error instanceof McpError && error.code === REQUEST_TIMEOUT;

/** The 2024-11-05 transport: a stream lives in one copy and ends with it; then the client connects again. */
async function sseClient({ mcpUrl, key }: Target, load: Load): Promise<void> {
  let client: McpClient | undefined;
  await keepAsking(load, "v1 over SSE", async () => {
    try {
      client ??= await connect("v1 over SSE", mcpUrl, key);
      const asked = client.call("list_workflows", { limit: 1 }, { signal: AbortSignal.timeout(ANSWER_MS) });
      outputOf(await asked);
    } catch (error) {
      // The answer to `initialize` is lost with its stream too. Another failure to connect is one.
      if (client === undefined && !isTimeout(error)) throw error;
      // The stream has ended without the answer. The caller checks that this happens once for each stop of a copy.
      load.reopened["sse"] = (load.reopened["sse"] ?? 0) + 1;
      await client?.close().catch(() => {});
      client = undefined;
    }
  });
}
