/** The client of one configured MCP server: its shared connection, opened on demand, and its tools. */
import { isDeepStrictEqual } from "node:util";
import { SdkHttpError, type Tool } from "@modelcontextprotocol/client";
import type { CallContext, McpTool } from "../../core/connections.ts";
import { withGrantHint } from "../../core/grant-hint.ts";
import type { TraceHeaders } from "../../core/trace-context.ts";
import { nearMatch } from "../../core/near-match.ts";
import { type SecretSource, valuesOf } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { createFairPool } from "../fair-pool.ts";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import type { Masker } from "../masking.ts";
import { toolResultText } from "./tool-result.ts";
import { pendingRequest, type PendingRequest } from "./bounded-fetch.ts";
import { checkedResult, type ResultSchema } from "./checked-result.ts";
import { connect, type Connection } from "./connection.ts";
import { asUnanswered, mayHaveBeenCalled, mcpStepError, toolFailed } from "./errors.ts";
import { type OutputCheck, outputCheck } from "./exact-values.ts";
import { listTools } from "./list-tools.ts";
import { type ServerConfig, serverSecrets } from "./server-config.ts";

export interface McpServerOptions {
  version: string;
  connectTimeoutMs: number;
  /** How long an unused connection stays open, in milliseconds. */
  idleTimeoutMs: number;
  /** How long a list of tools is cached, in milliseconds. */
  toolsCacheMs: number;
  /** Removes secrets from what servers return. */
  mask: Masker;
  /** The outgoing proxies. */
  proxies: OutgoingProxies;
  /** The current time in milliseconds, for a `Retry-After` with a date. */
  now(): number;
}

/** The names of the tools that may be called; null for all. Others are as if the server did not have them. */
type AllowedTools = readonly string[] | null;

export interface McpServerClient {
  tools(context: Pick<CallContext, "signal">, allowed?: AllowedTools): Promise<McpTool[]>;
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    sent: { idempotencyKey: string; trace?: TraceHeaders | undefined; allowed?: AllowedTools },
    context: CallContext,
  ): Promise<unknown>;
  close(): Promise<void>;
}

/** Maximum number of calls of one server at a time, unless its `concurrency` says otherwise. */
const MAX_CALLS = 8;
/** No time limit for requests: the maximum delay of a timer, in milliseconds. */
const NO_LIMIT = 2 ** 31 - 1;

/** The connection for new requests, or an older one that still has requests. */
interface PooledConnection {
  connection: Promise<Connection>;
  /** Aborts the attempt to connect. */
  stop: AbortController;
  users: number;
  /** The values that a child process was started with. */
  startedWith: ReadonlyMap<string, string | undefined>;
  /** Accepts no new requests, and closes after the last one. */
  retired: boolean;
}

const shutdownError = (): StepError => new StepError("interrupted", "The executor is shutting down.");

export function createMcpServerClient(
  server: ServerConfig,
  secrets: SecretSource,
  options: McpServerOptions,
): McpServerClient {
  const { mask } = options;
  const failing = { server: server.name, hasKey: server.key_var !== undefined, mask };
  // A program that serves one request after the other would serve the owner who sends the most of them.
  const calls = createFairPool(server.concurrency ?? MAX_CALLS);
  const open = new Set<PooledConnection>();
  let current: PooledConnection | undefined;
  let listed: { at: number; tools: Promise<McpTool[]> } | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** By the schemas of the listed tools. */
  const checks = new WeakMap<object, OutputCheck>();
  let closed = false;

  /** Compiles the schema of a tool's results, once for each list of tools. */
  function resultSchema(schema: McpTool["outputSchema"]): ResultSchema | null {
    if (schema === null) return null;
    const check = checks.get(schema) ?? outputCheck(schema);
    checks.set(schema, check);
    return { schema, check };
  }

  const clearToolCache = (): void => {
    listed = undefined;
  };

  /** The values that a child process gets at its start; those of a URL are read with each request. */
  const startValues = (): PooledConnection["startedWith"] =>
    valuesOf(secrets, server.command === undefined ? [] : serverSecrets(server));

  function currentConnection(): PooledConnection {
    const startedWith = startValues();
    // A process that still has requests ends after the last one.
    if (current !== undefined && !isDeepStrictEqual(current.startedWith, startedWith)) retire(current);
    if (current !== undefined) return current;
    const stop = new AbortController();
    const { signal } = stop;
    const connection = connect(server, secrets, { ...options, mask, onToolsChanged: clearToolCache, signal });
    const mine: PooledConnection = { connection, stop, users: 0, startedWith, retired: false };
    current = mine;
    open.add(mine);
    connection.then(
      (opened) => opened.brokenSignal.addEventListener("abort", () => retire(mine)),
      () => retire(mine),
    );
    return mine;
  }

  function retire(pooled: PooledConnection): void {
    pooled.retired = true;
    if (current === pooled) {
      current = undefined;
      clearToolCache();
    }
    if (pooled.users === 0) void end(pooled);
  }

  async function end(pooled: PooledConnection): Promise<void> {
    if (!open.delete(pooled)) return;
    pooled.stop.abort(shutdownError());
    await pooled.connection.then((connection) => connection.close()).catch(() => undefined);
  }

  function release(pooled: PooledConnection): void {
    pooled.users -= 1;
    if (pooled.users > 0) return;
    if (pooled.retired) void end(pooled);
    else idle = setTimeout(() => pooled.users === 0 && retire(pooled), options.idleTimeoutMs).unref();
  }

  /** Runs a request on the shared connection. If the server no longer knows the session, it reconnects once. */
  async function use<T>(
    tool: string | undefined,
    signal: AbortSignal,
    request: (connection: Connection, signal: AbortSignal) => Promise<T>,
    { trace = {}, retry = true }: { trace?: TraceHeaders; retry?: boolean } = {},
  ): Promise<T> {
    signal.throwIfAborted();
    if (closed) throw shutdownError();
    clearTimeout(idle);
    const mine = currentConnection();
    mine.users += 1;
    try {
      const connection = await orAborted(mine.connection, signal);
      const own = new AbortController();
      const all = AbortSignal.any([signal, connection.brokenSignal, own.signal]);
      const caller: PendingRequest = { fail: (error) => own.abort(error), trace };
      try {
        return await pendingRequest.run(caller, () => orAborted(request(connection, all), all));
      } catch (error) {
        if (all.aborted) throw tool === undefined ? all.reason : asUnanswered(all.reason);
        const sessionLost = error instanceof SdkHttpError && error.status === 404;
        const stderrTail = connection.stderrTail();
        const found = mcpStepError(failing, tool, error, { stderrTail, refusal: caller.refusal });
        const failure = tool !== undefined && mayHaveBeenCalled(error) ? asUnanswered(found) : found;
        // Too many requests do not end a session.
        const isBusy = caller.refusal?.status === 429;
        if (sessionLost || (failure.code === "tool_unavailable" && !isBusy)) retire(mine);
        if (!sessionLost || !retry) throw failure;
      } finally {
        clearTimeout(caller.graceTimer);
      }
    } finally {
      release(mine);
    }
    return use(tool, signal, request, { trace, retry: false });
  }

  async function tools(signal: AbortSignal, fresh = false): Promise<McpTool[]> {
    const known = listed;
    if (!fresh && known !== undefined && performance.now() - known.at < options.toolsCacheMs)
      return orAborted(known.tools, signal);
    // Without the caller's signal, because other callers may wait for the same list.
    const asked = use(undefined, new AbortController().signal, async ({ client }, all) => {
      const found = await listTools(client, server.name, { timeout: options.connectTimeoutMs, signal: all });
      return found.map((tool) => described(tool, mask));
    });
    const mine = { at: performance.now(), tools: asked };
    listed = mine;
    asked.catch(() => {
      if (listed === mine) listed = undefined;
    });
    return orAborted(asked, signal);
  }

  async function findTool(tool: string, signal: AbortSignal, allowed: AllowedTools): Promise<McpTool> {
    const isMeant = ({ name }: McpTool): boolean => name === tool && allowed?.includes(name) !== false;
    // The tool may be newer than the cached list.
    const found = (await tools(signal)).find(isMeant) ?? (await tools(signal, true)).find(isMeant);
    if (found !== undefined) return found;
    const names = onlyAllowed(await tools(signal), allowed).map(({ name }) => name);
    const near = nearMatch(tool, names);
    const fix =
      near === undefined ? `Its tools: ${names.slice(0, 50).join(", ") || "none"}.` : `Write ${near}.`;
    throw new StepError("tool_failed", `The MCP server ${server.name} has no tool ${tool}.`, {
      fix: allowed === null ? fix : withGrantHint(fix),
      transient: false,
    });
  }

  return {
    tools: async ({ signal }, allowed = null) => onlyAllowed(await tools(signal), allowed),
    async call(tool, args, { idempotencyKey, trace = {}, allowed = null }, context) {
      const { signal } = context;
      const { inputSchema, outputSchema } = await findTool(tool, signal, allowed);
      // Before the call, which a busy machine then does not repeat.
      const declared = resultSchema(outputSchema);
      // Without the schema of results, which the SDK would compare with the text of long numbers.
      const toolDefinition = { name: tool, inputSchema } as Tool;
      const request = {
        name: tool,
        arguments: { ...args },
        _meta: { "millrace/idempotency_key": idempotencyKey, ...trace },
      };
      const result = await calls.run(context, () =>
        use(
          tool,
          signal,
          ({ client }, all) => client.callTool(request, { toolDefinition, timeout: NO_LIMIT, signal: all }),
          { trace },
        ),
      );
      if (result.isError === true) throw toolFailed(failing, tool, toolResultText(result));
      return mask.json(checkedResult(failing, tool, result, declared));
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await Promise.all([...open].map(end));
    },
  };
}

const onlyAllowed = (tools: McpTool[], allowed: AllowedTools): McpTool[] =>
  allowed === null ? tools : tools.filter(({ name }) => allowed.includes(name));

const described = (tool: Tool, mask: Masker): McpTool => ({
  name: tool.name,
  description: mask.text(tool.description ?? tool.title ?? ""),
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema ?? null,
  readOnly: tool.annotations?.readOnlyHint === true,
});

/** Settles like the promise, or rejects with the signal's reason if that comes first. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
