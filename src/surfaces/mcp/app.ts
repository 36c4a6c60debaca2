/** The MCP listener: checks the origin, then the key, then passes the request to the transport of its path. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import { AppError, toAppError } from "../../core/errors.ts";
import { requestIdOf } from "../../core/ids.ts";
import type { McpSessionStore, Principal } from "../../core/ports.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Admit } from "../admission.ts";
import { bodyMemory } from "../body-memory.ts";
import { type Lifecycle, logRejectedRequest, sendHealth, sendProblem } from "../http-server.ts";
import { createStreamRegistry, startStreamMaintenance } from "../streams.ts";
import { checkOrigin } from "./http-messages.ts";
import {
  type McpServerOptions,
  type McpServerFactory,
  mcpServerFactory,
  type ErrorReporter,
} from "./server.ts";
import { sseTransport } from "./sse.ts";
import { streamableHttpTransport } from "./streamable-http.ts";

export interface McpOptions extends McpServerOptions {
  admit: Admit;
  findInvalid: (keyIds: readonly string[]) => Promise<string[]>;
  sessions: McpSessionStore;
  /** How long the holder of an SSE stream may miss its heartbeats before its streams count as gone, in milliseconds. */
  streamLeaseMs: number;
  lifecycle: Lifecycle;
  checkStorage: () => Promise<string | undefined>;
  changes: ChangeFeed;
  /** The host names that this server accepts. */
  hostnames: readonly string[];
  log: Logger;
}

export interface McpApp {
  handler: RequestListener;
  /** Waits for calls in flight, then ends the open streams. */
  closeStreams(): Promise<void>;
  /** Stops timers and closes sessions, after the listener is closed. */
  stop(): Promise<void>;
}

/** Maximum delay before clients are notified of changed tools, in milliseconds. */
const TOOLS_CHECK_MS = 500;
/** Interval at which sessions in use are marked in the store, in milliseconds. */
const KEEP_ALIVE_INTERVAL_MS = 60_000;
/** Maximum time for calls in flight when the streams are closed, in milliseconds. */
const CALLS_LIMIT_MS = 8_000;

type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type AuthenticatedHandle = (req: IncomingMessage, res: ServerResponse, principal: Principal) => Promise<void>;

export function mcpApp(options: McpOptions): McpApp {
  const { log, sessions, lifecycle, version, checkStorage, hostnames, admit } = options;
  const report: ErrorReporter = {
    onError: (err) => log.warn({ err }, "mcp request failed"),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, 500) }, "mcp request refused"),
  };
  const servers = mcpServerFactory(options);
  const bodies = bodyMemory();
  const streams = createStreamRegistry("use /mcp without a stream", options.services.meter);
  const relayed = watchRelayed(options, () => sse.deliverRelayed());
  const sse = sseTransport(
    servers,
    { sessions, changes: options.changes, leaseMs: options.streamLeaseMs },
    streams,
    report,
    relayed.setStreamCount,
  );
  const streamable = streamableHttpTransport(servers, sessions, streams, report);

  const health = (_req: IncomingMessage, res: ServerResponse) =>
    sendHealth(res, lifecycle, version, checkStorage);
  const authenticated =
    (handle: AuthenticatedHandle): Handle =>
    async (req, res) => {
      checkOrigin(req, hostnames);
      const principal = await admit(req.headers);
      bodies.reserve(req, res, usageSubjectOf(principal));
      await handle(req, res, principal);
    };
  const mcp = authenticated(streamable.handle);
  const routes = new Map<string, Readonly<Record<string, Handle>>>([
    ["/health", { GET: health, HEAD: health }],
    ["/sse", { GET: authenticated(sse.open) }],
    ["/messages", { POST: authenticated(sse.message) }],
    ["/mcp", { GET: mcp, POST: mcp, DELETE: mcp }],
  ]);

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const methods = routes.get(pathOf(req));
    if (methods === undefined) {
      throw new AppError(
        "route_not_found",
        "There is nothing at this path. MCP is served at /mcp (Streamable HTTP) and /sse.",
      );
    }
    const handle = methods[req.method ?? ""];
    if (handle === undefined) {
      const allow = Object.keys(methods).join(", ");
      throw new AppError("method_not_allowed", `${req.method} is not allowed here. Use ${allow}.`, {
        headers: { Allow: allow },
      });
    }
    await handle(req, res);
  }

  const stopMaintenance = startStreamMaintenance(streams, options.findInvalid, report.onError);
  const keepAlive = setInterval(() => {
    void sessions.keepAlive([...sse.sessionIds(), ...streamable.takeUsedSessions()]).catch(report.onError);
  }, KEEP_ALIVE_INTERVAL_MS);
  const toolsCheck = watchTools(options, servers, report, () => {
    sse.toolsChanged();
    streamable.toolsChanged();
  });

  return {
    handler(req, res) {
      const requestId = requestIdOf(req.headers["x-request-id"]);
      res.setHeader("X-Request-Id", requestId);
      route(req, res).catch((thrown: unknown) => {
        const error = toAppError(thrown);
        options.services.meter.requestRejected("mcp", error.code);
        logRejectedRequest(log, error, { request_id: requestId, method: req.method, path: pathOf(req) });
        if (res.headersSent) {
          res.destroy();
          return;
        }
        if (!req.readableEnded) res.setHeader("Connection", "close");
        sendProblem(res, error, requestId);
      });
    },
    async closeStreams() {
      const deadline = performance.now() + CALLS_LIMIT_MS;
      while (servers.inFlight() > 0 && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 20));
      streams.closeAll();
    },
    async stop() {
      stopMaintenance();
      clearInterval(keepAlive);
      toolsCheck.stop();
      relayed.setStreamCount(0);
      await sse.stop();
      await streamable.close();
    },
  };
}

/** The path of a request target, which may be absolute (`GET http://host/mcp`, as proxies send it). */
function pathOf({ url = "" }: IncomingMessage): string {
  return (url.startsWith("/") ? url : (URL.parse(url)?.pathname ?? "")).split("?")[0]!;
}

/** Calls `onToolsChanged` after commits that have changed the list of tools. */
function watchTools(
  { changes }: McpOptions,
  servers: McpServerFactory,
  report: ErrorReporter,
  onToolsChanged: () => void,
): ChangeCheck {
  let previous: string | undefined;
  async function compare(): Promise<void> {
    const tools = JSON.stringify((await servers.exposedTools()).tools);
    if (previous !== undefined && previous !== tools) onToolsChanged();
    previous = tools;
  }
  const check = checkOnChange(changes, compare, report.onError, TOOLS_CHECK_MS);
  check.run();
  return check;
}

/** Fetches the messages that other processes have queued, while this one has streams. */
function watchRelayed({ changes, log }: McpOptions, relay: () => Promise<void>) {
  let check: ChangeCheck | undefined;
  const onFailure = (err: unknown): void => log.warn({ err }, "relayed messages not fetched");
  return {
    setStreamCount(count: number): void {
      if (count > 0) {
        check ??= checkOnChange(changes, relay, onFailure);
      } else {
        check?.stop();
        check = undefined;
      }
    },
  };
}
