/** The MCP clients of the v1 and v2 SDKs behind one interface, over every transport. */
import * as v2 from "@modelcontextprotocol/client";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { onTestFinished } from "vitest";
import type { Json } from "./json.ts";
import type { Problem } from "../../schemas/problem.ts";

/** Client configurations: SDK, transport, and the protocol revision that they must negotiate. */
export const MCP_CLIENTS = {
  "v1 over SSE": { sdk: 1, path: "/sse", version: "2025-11-25" },
  "v1 over Streamable HTTP": { sdk: 1, path: "/mcp", version: "2025-11-25" },
  "v2 over SSE": { sdk: 2, path: "/sse", mode: "legacy", version: "2025-11-25" },
  "v2 over Streamable HTTP, legacy": { sdk: 2, path: "/mcp", mode: "legacy", version: "2025-11-25" },
  "v2 pinned to 2026-07-28": {
    sdk: 2,
    path: "/mcp",
    mode: { pin: "2026-07-28" },
    version: "2026-07-28",
  },
  "v2 that negotiates": { sdk: 2, path: "/mcp", mode: "auto", version: "2026-07-28" },
} as const satisfies Record<string, Way>;

interface Way {
  sdk: 1 | 2;
  path: "/sse" | "/mcp";
  mode?: v2.VersionNegotiationMode;
  version: string;
}

export type ClientName = keyof typeof MCP_CLIENTS;
export const CLIENT_NAMES = Object.keys(MCP_CLIENTS) as ClientName[];

interface ListedTool {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
  annotations?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}

export interface ToolCallResult {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Json;
}

interface CallOptions {
  onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  signal?: AbortSignal;
}

/** Handlers of elicitation requests and notifications, and the extensions that the client declares. */
interface Hooks {
  extensions?: Record<string, Record<string, string[]>>;
  elicit?: (asked: { message: string; requestedSchema: Json }) => {
    action: "accept" | "decline" | "cancel";
    content?: Record<string, string | number | boolean>;
  };
  onToolsChanged?: () => void;
  onResourceUpdated?: (params: { uri: string }) => void;
}

interface ListedResource {
  uri: string;
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  mimeType?: string | undefined;
  _meta?: Record<string, unknown> | undefined;
}

interface ResourceText {
  uri: string;
  mimeType?: string | undefined;
  text: string;
  _meta?: Record<string, unknown> | undefined;
}

/** The resources, prompts and completions of a server; both SDKs have the same methods. */
interface ContextMethods {
  listResources(cursor?: string): Promise<{ resources: ListedResource[]; nextCursor?: string | undefined }>;
  listResourceTemplates(): Promise<{ uriTemplate: string; name: string }[]>;
  readResource(uri: string): Promise<ResourceText[]>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  listPrompts(): Promise<{ name: string; arguments?: { name: string }[] | undefined }[]>;
  getPrompt(name: string, args: Record<string, string>): Promise<{ role: string; content: Json }[]>;
  /** @param of the template of a resource, or the name of a prompt */
  complete(
    of: { uri: string } | { name: string },
    argument: string,
    typed: string,
    context?: Record<string, string>,
  ): Promise<string[]>;
}

export interface McpClient extends ContextMethods {
  listTools(): Promise<ListedTool[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolCallResult>;
  /** The revision that was negotiated. */
  version: string | undefined;
  /** Ends the session, if there is one, and the connection. */
  close(): Promise<void>;
}

/** Connects an SDK's client to an MCP listener. */
export async function connect(
  way: ClientName,
  base: string,
  key: string,
  info = { name: "test-client", version: "1.0.0" },
  hooks: Hooks = {},
): Promise<McpClient> {
  const { sdk, path, ...rest } = MCP_CLIENTS[way];
  const url = new URL(base + path);
  const options = { requestInit: { headers: { "X-API-Key": key } } };
  if (sdk === 1) {
    const transport =
      path === "/sse"
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, options);
    return connectV1(transport, info, hooks);
  }
  const transport =
    path === "/sse"
      ? new v2.SSEClientTransport(url, options)
      : new v2.StreamableHTTPClientTransport(url, options);
  const { elicit, onToolsChanged, onResourceUpdated, extensions } = hooks;
  const client = new v2.Client(info, {
    capabilities: { ...(elicit && { elicitation: { form: {} } }), ...(extensions && { extensions }) },
    ...(onToolsChanged && { listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } } }),
    versionNegotiation: { mode: (rest as { mode: v2.VersionNegotiationMode }).mode },
  });
  if (onResourceUpdated)
    client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
      onResourceUpdated(params),
    );
  if (elicit) client.setRequestHandler("elicitation/create", ({ params }) => elicit(params as never));
  await client.connect(transport);
  const session = transport instanceof v2.StreamableHTTPClientTransport ? transport : undefined;
  return closing({
    ...contextMethods(client),
    ...(client.getNegotiatedProtocolVersion() === "2026-07-28" && listening(client)),
    // Not from the cache of the client.
    listTools: async () => (await client.listTools({}, { cacheMode: "refresh" })).tools,
    call: async (name, args = {}, how = {}) =>
      (await client.callTool({ name, arguments: args }, how)) as unknown as ToolCallResult,
    version: client.getNegotiatedProtocolVersion(),
    async close() {
      if (session?.sessionId !== undefined) await session.terminateSession();
      await client.close();
    },
  });
}

/** A v1 client over any transport of its SDK. */
export async function connectV1(
  transport: Transport,
  info = { name: "test-client", version: "1.0.0" },
  { elicit, onToolsChanged, onResourceUpdated, extensions }: Hooks = {},
): Promise<McpClient> {
  const client = new V1Client(info, {
    capabilities: { ...(elicit && { elicitation: {} }), ...(extensions && { extensions }) },
  });
  if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params as never));
  if (onToolsChanged) client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged);
  if (onResourceUpdated)
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
      onResourceUpdated(params),
    );
  let version: string | undefined;
  const connecting = client.connect(watched(transport, (negotiated) => (version = negotiated)));
  await connecting;
  const session = transport instanceof StreamableHTTPClientTransport ? transport : undefined;
  return closing({
    ...contextMethods(client),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, how = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, how)) as unknown as ToolCallResult,
    version,
    async close() {
      if (session?.sessionId !== undefined) await session.terminateSession();
      await client.close();
    },
  });
}

function contextMethods(client: v2.Client | V1Client): ContextMethods {
  // The types of the two SDKs differ where the methods do not.
  const either = client as v2.Client;
  return {
    listResources: (cursor) => either.listResources(cursor === undefined ? {} : { cursor }),
    listResourceTemplates: async () => (await either.listResourceTemplates()).resourceTemplates,
    subscribe: async (uri) => void (await either.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await either.unsubscribeResource({ uri })),
    readResource: async (uri) => (await either.readResource({ uri })).contents as ResourceText[],
    listPrompts: async () => (await either.listPrompts()).prompts,
    getPrompt: async (name, args) => (await either.getPrompt({ name, arguments: args })).messages,
    async complete(of, name, value, context) {
      const ref =
        "uri" in of
          ? ({ type: "ref/resource", uri: of.uri } as const)
          : ({ type: "ref/prompt", name: of.name } as const);
      const params = { ref, argument: { name, value }, ...(context && { context: { arguments: context } }) };
      return (await either.complete(params)).completion.values;
    },
  };
}

/** Subscriptions of 2026-07-28: a stream for each. */
function listening(client: v2.Client): Pick<McpClient, "subscribe" | "unsubscribe"> {
  const open = new Map<string, v2.McpSubscription>();
  return {
    async subscribe(uri) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      if (subscription.honoredFilter.resourceSubscriptions === undefined) throw new Error("not honoured");
      open.set(uri, subscription);
    },
    unsubscribe: async (uri) => open.get(uri)?.close(),
  };
}

/** The v1 client reports the negotiated revision only to its transport. */
function watched(transport: Transport, tell: (version: string) => void): Transport {
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    tell(version);
    set?.(version);
  };
  return transport;
}

function closing(client: McpClient): McpClient {
  let open = true;
  const close = async (): Promise<void> => {
    if (!open) return;
    open = false;
    await client.close();
  };
  onTestFinished(() => close().catch(() => {}));
  return { ...client, close };
}

/** The output of a call that must succeed. */
export function outputOf(answer: ToolCallResult): Json {
  if (answer.isError) throw new Error(`the tool refused: ${answer.content[0]?.text}`);
  return answer.structuredContent;
}

/** The problem details of a call that must fail. */
export function problemOf(answer: ToolCallResult): Problem {
  if (!answer.isError) throw new Error("the tool did not refuse");
  return JSON.parse(answer.content[0]!.text) as Problem;
}
