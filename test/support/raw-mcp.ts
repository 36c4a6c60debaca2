/** MCP without an SDK: the messages and headers of every transport over plain HTTP. */
import { expect } from "vitest";
import { testInstance } from "./instance.ts";
import { openEventStream, rawRequest } from "./raw-http.ts";

export const INITIALIZE_REQUEST = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
export const toolCall = (name: string, args: object = {}, id: number | string = 2) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
export const LIST_WORKFLOWS_CALL = toolCall("list_workflows");
export const ACCEPT_HEADERS = { Accept: "application/json, text/event-stream" };

/** Starts an MCP listener on a new state, with the headers of a client with a key. */
export async function openMcp(options: Parameters<typeof testInstance>[0] = {}) {
  const instance = await testInstance(options);
  const { url, stop } = await instance.mcp();
  const { value, record } = await instance.key();
  return { instance, url, stop, key: { "X-API-Key": value, ...ACCEPT_HEADERS }, record };
}

/** Sends a message and returns the whole response. */
export const postMessage = (url: string, headers: Record<string, string>, body: unknown) =>
  rawRequest("POST", url, { headers, body });

/** Opens a stream and returns the address for messages. */
export async function openSse(url: string, headers: Record<string, string>) {
  const stream = await openEventStream("GET", `${url}/sse`, { headers });
  const [, messages] = await stream.waitFor(/^event: endpoint\ndata: (.*)\n\n/m);
  return { stream, messages: url + messages! };
}

/** Starts a session on /mcp and returns its headers. */
export async function openSession(url: string, headers: Record<string, string>) {
  const answer = await postMessage(`${url}/mcp`, headers, INITIALIZE_REQUEST);
  const session = {
    ...headers,
    "Mcp-Session-Id": answer.headers["mcp-session-id"] as string,
    "MCP-Protocol-Version": "2025-11-25",
  };
  expect((await postMessage(`${url}/mcp`, session, INITIALIZED)).status).toBe(202);
  return session;
}

/** A request of the 2026-07-28 revision. @param capabilities those of the client */
export function modernRequest(
  headers: Record<string, string>,
  method: string,
  params: object = {},
  capabilities: object = {},
) {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
      },
    },
  };
  const { name: tool, taskId } = params as { name?: string; taskId?: string };
  const name = tool ?? taskId;
  return {
    headers: {
      ...headers,
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(name !== undefined && { "Mcp-Name": name }),
    },
    body,
  };
}
