/** The MCP listener: checks the origin, then the key, then passes the request to the transport of its path. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type ChangeCheck, type ChangeFeed, checkOnChange } from "../../core/change-feed.ts";
import { type Access, accessText } from "../../core/access.ts";
import { AppError, toAppError } from "../../core/errors.ts";
import { requestIdOf } from "../../core/ids.ts";
import { pathOfTarget, withoutPrefix } from "../../core/public-url.ts";
import type { Principal } from "../../core/ports.ts";
import type { McpSessionStore } from "../../core/mcp-session-port.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { Admit } from "../admission.ts";
import { answerCrossOrigin, type OriginRules } from "../cross-origin.ts";
import { bodyMemory } from "../body-memory.ts";
import { type Lifecycle, logRejectedRequest, sendHealth, sendProblem } from "../http-server.ts";
import type { Callers } from "../still-allowed.ts";
import { createStreamRegistry, startStreamMaintenance } from "../streams.ts";
import { checkOrigin } from "./http-messages.ts";
import { noSuchMetadata } from "../oauth/metadata.ts";
import { protectedResource, type ProtectedResourceOptions } from "./protected-resource.ts";
import { type ExposedTool, listedExposed } from "./exposed-workflows.ts";
import {
  type McpServerOptions,
  type McpServerFactory,
  mcpServerFactory,
  type ErrorReporter,
} from "./server.ts";
import { resourceWatch } from "./resource-watch.ts";
import { sseTransport } from "./sse.ts";
import { streamableHttpTransport } from "./streamable-http.ts";

export interface McpOptions extends McpServerOptions {
  admit: Admit;
  callers: Callers;
  sessions: McpSessionStore;
  /** How long the holder of an SSE stream may miss its heartbeats before its streams count as gone, in milliseconds. */
  streamLeaseMs: number;
  lifecycle: Lifecycle;
  checkStorage: () => Promise<string | undefined>;
  changes: ChangeFeed;
  /** Where clients without a key get a token; undefined when applications can't connect by signing in. */
  oauth: ProtectedResourceOptions | undefined;
  originRules: OriginRules;
  /** The path in front of those of this server in its public URL; empty for none. */
  pathPrefix: string;
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

/** Where clients that find no metadata expect the endpoints of the authorization server (MCP 2025-03-26). */
const OAUTH_PATHS: ReadonlySet<string> = new Set(["/authorize", "/token", "/register"]);
type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type AuthenticatedHandle = (req: IncomingMessage, res: ServerResponse, principal: Principal) => Promise<void>;

export function mcpApp(options: McpOptions): McpApp {
  const { log, sessions, lifecycle, version, checkStorage, originRules, admit } = options;
  /** A path of this server stays what it is, because the prefix may be named like it, and the proxy may have removed it. */
  const pathOf = ({ url = "" }: IncomingMessage): string => {
    const path = pathOfTarget(url).split("?")[0]!;
    return routes.has(path) ? path : withoutPrefix(path, options.pathPrefix);
  };
  const report: ErrorReporter = {
    onError: (err) => log.warn({ err }, "mcp request failed"),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, 500) }, "mcp request refused"),
  };
  const servers = mcpServerFactory(options);
  const bodies = bodyMemory();
  const resource = options.oauth && protectedResource(options.oauth);
  const streams = createStreamRegistry("use /mcp without a stream", options.services.meter);
  const relayed = watchRelayed(options, () => sse.deliverRelayed());
  const watch = resourceWatch({
    ...options.watched,
    read: options.services.read,
    changes: options.changes,
    callers: options.callers,
    onError: report.onError,
  });
  const sse = sseTransport(
    servers,
    { sessions, changes: options.changes, leaseMs: options.streamLeaseMs },
    streams,
    watch,
    report,
    relayed.setStreamCount,
    options.pathPrefix,
  );
  const streamable = streamableHttpTransport(servers, sessions, streams, watch, report);

  const health = (_req: IncomingMessage, res: ServerResponse) =>
    sendHealth(res, lifecycle, version, checkStorage);
  const authenticated =
    (handle: AuthenticatedHandle): Handle =>
    async (req, res) => {
      checkOrigin(req, originRules);
      try {
        const principal = await admit(req.headers, resource?.baseOf(req));
        bodies.reserve(req, res, usageSubjectOf(principal));
        await handle(req, res, principal);
      } catch (error) {
        throw resource === undefined ? error : resource.withChallenge(error, req, pathOf(req));
      }
    };
  const mcp = authenticated(streamable.handle);
  const routes = new Map<string, Readonly<Record<string, Handle>>>([
    ["/health", { GET: health, HEAD: health }],
    ["/sse", { GET: authenticated(sse.open) }],
    ["/messages", { POST: authenticated(sse.message) }],
    ["/mcp", { GET: mcp, POST: mcp, DELETE: mcp }],
  ]);
  for (const [metadataPath, path] of resource?.paths ?? [])
    routes.set(metadataPath, {
      async GET(req, res) {
        checkOrigin(req, originRules);
        await resource!.sendMetadata(req, res, path);
      },
    });

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const methods = routes.get(pathOf(req));
    if (methods === undefined) throw await nothingAt(req);
    if (answerCrossOrigin(req, res, Object.keys(methods), originRules)) return;
    const handle = methods[req.method ?? ""];
    if (handle === undefined) {
      const allow = Object.keys(methods).join(", ");
      throw new AppError("method_not_allowed", `${req.method} is not allowed here. Use ${allow}.`, {
        headers: { Allow: allow },
      });
    }
    await handle(req, res);
  }

  async function nothingAt(req: IncomingMessage): Promise<AppError> {
    const path = pathOf(req);
    return path.startsWith("/.well-known/") || OAUTH_PATHS.has(path)
      ? noSuchMetadata(path, await resource?.locate(req))
      : new AppError(
          "route_not_found",
          "There is nothing at this path. MCP is served at /mcp (Streamable HTTP) and /sse.",
        );
  }

  const stopMaintenance = startStreamMaintenance(streams, options.callers, report.onError);
  const keepAlive = setInterval(() => {
    void sessions.keepAlive([...sse.sessionIds(), ...streamable.takeUsedSessions()]).catch(report.onError);
  }, KEEP_ALIVE_INTERVAL_MS);
  const toolsCheck = watchTools(options, servers, report, (isMeant) => {
    sse.toolsChanged(isMeant);
    streamable.toolsChanged(isMeant);
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
      watch.stop();
      await sse.stop();
      await streamable.close();
    },
  };
}

/**
 * Calls `onToolsChanged` after commits that have changed the exposed workflows, with whose list of tools is another one now:
 * others would learn that something happens in projects that they don't see.
 */
function watchTools(
  { changes }: McpOptions,
  servers: McpServerFactory,
  report: ErrorReporter,
  onToolsChanged: (isMeant: (access: Access) => boolean) => void,
): ChangeCheck {
  let previous: readonly ExposedTool[] | undefined;
  async function compare(): Promise<void> {
    const before = previous;
    const after = await servers.exposedTools();
    previous = after;
    if (before === undefined || before === after) return;
    onToolsChanged(memoized((access) => listOf(before, access) !== listOf(after, access)));
  }
  const check = checkOnChange(changes, compare, report.onError, TOOLS_CHECK_MS);
  check.run();
  return check;
}

const listOf = (exposed: readonly ExposedTool[], access: Access): string =>
  JSON.stringify(listedExposed(exposed, access).map(({ tool }) => tool));

/** The same answers, computed once for all callers who may see and do the same. */
function memoized(answer: (access: Access) => boolean): (access: Access) => boolean {
  const answers = new Map<string, boolean>();
  return (access) => {
    const key = accessText(access);
    const known = answers.get(key) ?? answer(access);
    answers.set(key, known);
    return known;
  };
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
