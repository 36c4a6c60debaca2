/** Resident memory of an open SSE session. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Bench, copyState, createApiKey, type Result } from "./support/bench.ts";
import { type Program, residentBytes, startMillrace } from "./support/program.ts";
import { kilobytes } from "./support/table.ts";

const GOAL_BYTES = 100_000;
const WARM_UP = 100;
/** Sessions per API key, fewer than the limit of streams of a key. */
const SESSIONS_PER_KEY = 100;

export async function sseSessions({ directory, seed, quick }: Bench): Promise<Result> {
  const sessions = quick ? 500 : 1_000;
  const stateDir = copyState(seed, directory, "sse");
  const keys = Array.from({ length: sessions / SESSIONS_PER_KEY }, () => createApiKey(stateDir));
  const mcp = await startMillrace("mcp-sse", stateDir);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const waitUntilIdle = (): Promise<void> => delay(quick ? 1_500 : 3_000);

  // The first sessions load code and fill caches that later ones share.
  await closeAll(await openMany(mcp, keys, agent, WARM_UP));
  await waitUntilIdle();
  const before = residentBytes(mcp.pid);
  const open = await openMany(mcp, keys, agent, sessions);
  await waitUntilIdle();
  const each = (residentBytes(mcp.pid) - before) / sessions;
  await closeAll(open);
  agent.destroy();
  await mcp.stop();
  return {
    rows: [
      {
        label: `An open SSE session (of ${sessions}, initialized)`,
        value: kilobytes(each),
        goal: `< ${kilobytes(GOAL_BYTES)}`,
        goalMet: each < GOAL_BYTES,
      },
    ],
  };
}

async function openMany(
  mcp: Program,
  keys: readonly string[],
  agent: Agent,
  count: number,
): Promise<IncomingMessage[]> {
  const streams: IncomingMessage[] = [];
  while (streams.length < count) {
    const key = keys[Math.floor(streams.length / SESSIONS_PER_KEY)]!;
    streams.push(...(await Promise.all(Array.from({ length: 10 }, () => openSession(mcp, key, agent)))));
  }
  return streams;
}

async function closeAll(streams: IncomingMessage[]): Promise<void> {
  for (const stream of streams) stream.destroy();
  await delay(500);
}

/** Opens a client's stream, sends `initialize` and `notifications/initialized`, and keeps the stream open. */
async function openSession(mcp: Program, key: string, agent: Agent): Promise<IncomingMessage> {
  const opened = request({
    port: mcp.port,
    host: "127.0.0.1",
    path: "/sse",
    agent: false,
    headers: { "X-API-Key": key },
  });
  opened.end();
  const [stream] = (await once(opened, "response")) as [IncomingMessage];
  if (stream.statusCode !== 200) throw new Error(`GET /sse answered ${stream.statusCode}`);
  stream.setEncoding("utf8").on("error", () => {});
  const [event] = (await once(stream, "data")) as [string];
  const path = /^data: (.+)$/m.exec(event)![1]!;
  const answered = once(stream, "data");
  await post(mcp, key, agent, path, {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  });
  await answered;
  await post(mcp, key, agent, path, { jsonrpc: "2.0", method: "notifications/initialized" });
  return stream;
}

async function post(mcp: Program, key: string, agent: Agent, path: string, message: unknown): Promise<void> {
  const body = JSON.stringify(message);
  const posted = request({
    port: mcp.port,
    host: "127.0.0.1",
    path,
    agent,
    method: "POST",
    headers: {
      "X-API-Key": key,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    },
  });
  posted.end(body);
  const [response] = (await once(posted, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 202) throw new Error(`POST ${path} answered ${response.statusCode}`);
}
