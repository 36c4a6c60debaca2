/** One configured MCP server: its one shared connection, opened when it is first needed, and its tools. */
import { SdkHttpError, type Tool } from "@modelcontextprotocol/client";
import type { McpTool } from "../../core/connections.ts";
import type { TraceHeaders } from "../../core/trace-context.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { type Masker, createMasker } from "../masking.ts";
import { toolResultText, toolResultValue } from "./tool-result.ts";
import { pendingRequest, type PendingRequest } from "./bounded-fetch.ts";
import { connect, type Connection } from "./connection.ts";
import { toolFailed, mcpStepError } from "./errors.ts";
import { type Environment, serverVariables, type ServerConfig } from "./server-config.ts";

export interface McpServerOptions {
  version: string;
  connectTimeoutMs: number;
  /** A connection that nobody uses for so long is closed. */
  idleTimeoutMs: number;
  /** How long a list of tools is taken for current. */
  toolsCacheMs: number;
}

export interface McpServerClient {
  tools(signal: AbortSignal): Promise<McpTool[]>;
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    sent: { idempotencyKey: string; trace?: TraceHeaders | undefined },
    signal: AbortSignal,
  ): Promise<unknown>;
  close(): Promise<void>;
}

/** A variable may hold a plain setting too; shorter ones would be found in innocent text. */
const SHORTEST_SECRET = 4;
/** The longest that a request may take where nobody says otherwise: the largest time a timer takes. */
const NO_LIMIT = 2 ** 31 - 1;

/** The one connection that new requests go to, or an older one that still has some. */
interface Held {
  connection: Promise<Connection>;
  /** Ends an attempt to connect. */
  stop: AbortController;
  users: number;
  /** No new request goes there; it is closed when the last one has ended. */
  retired: boolean;
}

const ending = (): StepError => new StepError("interrupted", "The executor is ending.");

export function createMcpServerClient(
  server: ServerConfig,
  env: Environment,
  options: McpServerOptions,
): McpServerClient {
  const secrets = Object.values(serverVariables(server, env)).filter(
    ({ length }) => length >= SHORTEST_SECRET,
  );
  const mask = createMasker(secrets);
  const failing = { server: server.name, mask };
  const open = new Set<Held>();
  let current: Held | undefined;
  let listed: { at: number; tools: Promise<McpTool[]> } | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  const forgetTools = (): void => {
    listed = undefined;
  };

  function held(): Held {
    if (current !== undefined) return current;
    const stop = new AbortController();
    const { signal } = stop;
    const connection = connect(server, env, { ...options, mask, onToolsChanged: forgetTools, signal });
    const mine: Held = { connection, stop, users: 0, retired: false };
    current = mine;
    open.add(mine);
    connection.then(
      (it) => it.brokenSignal.addEventListener("abort", () => retire(mine)),
      () => retire(mine),
    );
    return mine;
  }

  function retire(it: Held): void {
    it.retired = true;
    if (current === it) {
      current = undefined;
      forgetTools();
    }
    if (it.users === 0) void end(it);
  }

  async function end(it: Held): Promise<void> {
    if (!open.delete(it)) return;
    it.stop.abort(ending());
    await it.connection.then((connection) => connection.close()).catch(() => undefined);
  }

  function release(it: Held): void {
    it.users -= 1;
    if (it.users > 0) return;
    if (it.retired) void end(it);
    else idle = setTimeout(() => it.users === 0 && retire(it), options.idleTimeoutMs).unref();
  }

  /** Runs one request on the shared connection; a session that the server has forgotten is opened anew, once. */
  async function use<T>(
    tool: string | undefined,
    signal: AbortSignal,
    request: (it: Connection, signal: AbortSignal) => Promise<T>,
    { trace = {}, again = true }: { trace?: TraceHeaders; again?: boolean } = {},
  ): Promise<T> {
    signal.throwIfAborted();
    if (closed) throw ending();
    clearTimeout(idle);
    const mine = held();
    mine.users += 1;
    try {
      const it = await orAborted(mine.connection, signal);
      const own = new AbortController();
      const all = AbortSignal.any([signal, it.brokenSignal, own.signal]);
      const caller: PendingRequest = { fail: (error) => own.abort(error), trace };
      try {
        return await pendingRequest.run(caller, () => orAborted(request(it, all), all));
      } catch (error) {
        if (all.aborted) throw all.reason;
        const forgotten = error instanceof SdkHttpError && error.status === 404;
        const failure = mcpStepError(failing, tool, error, it.stderrTail());
        if (forgotten || failure.code === "tool_unavailable") retire(mine);
        if (!forgotten || !again) throw failure;
      } finally {
        clearTimeout(caller.graceTimer);
      }
    } finally {
      release(mine);
    }
    return use(tool, signal, request, { trace, again: false });
  }

  async function tools(signal: AbortSignal, fresh = false): Promise<McpTool[]> {
    const known = listed;
    if (!fresh && known !== undefined && performance.now() - known.at < options.toolsCacheMs)
      return orAborted(known.tools, signal);
    // Not the caller's signal: others may wait for the same list.
    const asked = use(undefined, new AbortController().signal, async ({ client }, all) => {
      const { tools: all_ } = await client.listTools(undefined, {
        timeout: options.connectTimeoutMs,
        signal: all,
      });
      return all_.map((it) => described(it, mask));
    });
    const mine = { at: performance.now(), tools: asked };
    listed = mine;
    asked.catch(() => {
      if (listed === mine) listed = undefined;
    });
    return orAborted(asked, signal);
  }

  async function mustExist(tool: string, signal: AbortSignal): Promise<void> {
    if ((await tools(signal)).some(({ name }) => name === tool)) return;
    // It may be newer than our list.
    const names = (await tools(signal, true)).map(({ name }) => name);
    if (names.includes(tool)) return;
    const near = nearMatch(tool, names);
    throw new StepError("tool_failed", `The MCP server ${server.name} has no tool ${tool}.`, {
      fix: near === undefined ? `It has ${names.slice(0, 50).join(", ") || "none"}.` : `Write ${near}.`,
      transient: false,
    });
  }

  return {
    tools,
    async call(tool, args, { idempotencyKey, trace = {} }, signal) {
      await mustExist(tool, signal);
      const result = await use(
        tool,
        signal,
        ({ client }, all) =>
          client.callTool(
            {
              name: tool,
              arguments: { ...args },
              _meta: { "millrace/idempotency_key": idempotencyKey, ...trace },
            },
            { timeout: NO_LIMIT, signal: all },
          ),
        { trace },
      );
      if (result.isError === true) throw toolFailed(failing, tool, toolResultText(result));
      const value = toolResultValue(result);
      if (exceedsDepth(value, MAX_JSON_DEPTH))
        throw new StepError("output_too_large", `${server.name}: what ${tool} gave is nested too deep.`);
      return mask.json(value);
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await Promise.all([...open].map(end));
    },
  };
}

const described = (tool: Tool, mask: Masker): McpTool => ({
  name: tool.name,
  description: mask.text(tool.description ?? tool.title ?? ""),
  inputSchema: tool.inputSchema,
  outputSchema: tool.outputSchema ?? null,
  readOnly: tool.annotations?.readOnlyHint === true,
});

/** What comes first: the promise, or the signal's reason. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
