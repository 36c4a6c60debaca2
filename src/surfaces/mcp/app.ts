/** The MCP listener: origin before key, key before body, then the leg that the path names. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { AppError, toAppError } from "../../core/errors.ts";
import { requestIdOf } from "../../core/ids.ts";
import type { McpSessionStore, Principal } from "../../core/ports.ts";
import type { Admit } from "../admission.ts";
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
  lifecycle: Lifecycle;
  checkStorage: () => Promise<string | undefined>;
  /** Changes whenever another process wrote. */
  dataVersion: () => number;
  /** The names that this server goes by. */
  hostnames: readonly string[];
  /** Whether looking for changes is cheap (a local file system). */
  localFileSystem: boolean;
  log: Logger;
}

export interface McpApp {
  handler: RequestListener;
  /** Waits for calls under way, then ends the streams that would stay open. */
  closeStreams(): Promise<void>;
  /** Ends what is left of it, once its listener is closed. */
  stop(): Promise<void>;
}

/** How soon clients are told of a workflow that is a tool of its own. */
const TOOLS_CHECK_MS = 500;
const SESSION_KEEP_MS = 60_000;
const CALLS_LIMIT_MS = 8_000;

type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type Guarded = (req: IncomingMessage, res: ServerResponse, principal: Principal) => Promise<void>;

export function mcpApp(options: McpOptions): McpApp {
  const { log, sessions, lifecycle, version, checkStorage, hostnames, admit } = options;
  const report: ErrorReporter = {
    onError: (err) => log.warn({ err }, "mcp"),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, 500) }, "mcp request refused"),
  };
  const servers = mcpServerFactory(options);
  const streams = createStreamRegistry("use /mcp without a stream", options.services.meter);
  const sse = sseTransport(servers, sessions, streams, report);
  const streamable = streamableHttpTransport(servers, sessions, streams, report);

  const health = (_req: IncomingMessage, res: ServerResponse) =>
    sendHealth(res, lifecycle, version, checkStorage);
  const guarded =
    (handle: Guarded): Handle =>
    async (req, res) => {
      checkOrigin(req, hostnames);
      await handle(req, res, await admit(req.headers));
    };
  const mcp = guarded(streamable.handle);
  const routes = new Map<string, Readonly<Record<string, Handle>>>([
    ["/health", { GET: health, HEAD: health }],
    ["/sse", { GET: guarded(sse.open) }],
    ["/messages", { POST: guarded(sse.message) }],
    ["/mcp", { GET: mcp, POST: mcp, DELETE: mcp }],
  ]);

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const methods = routes.get(pathOf(req));
    if (methods === undefined) {
      throw new AppError(
        "route_not_found",
        "There is nothing here. MCP is served at /mcp (Streamable HTTP) and /sse.",
      );
    }
    const handle = methods[req.method ?? ""];
    if (handle === undefined) {
      const allow = Object.keys(methods).join(", ");
      throw new AppError("method_not_allowed", `${req.method} is not possible here; ${allow} is.`, {
        headers: { Allow: allow },
      });
    }
    await handle(req, res);
  }

  const stopTending = startStreamMaintenance(streams, options.findInvalid, report.onError);
  const timers = [
    setInterval(() => {
      void sessions.keepAlive([...sse.sessionIds(), ...streamable.takeUsedSessions()]).catch(report.onError);
    }, SESSION_KEEP_MS),
    toolsTimer(options, servers, report, () => {
      sse.toolsChanged();
      streamable.toolsChanged();
    }),
    relayTimer(options, () => sse.sessionIds().length > 0, sse.deliverRelayed),
  ];

  return {
    handler(req, res) {
      const requestId = requestIdOf(req.headers["x-request-id"]);
      res.setHeader("X-Request-Id", requestId);
      answer(req, res).catch((thrown: unknown) => {
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
      stopTending();
      timers.forEach(clearInterval);
      await streamable.close();
    },
  };
}

/** The path of a request target, also of an absolute one (`GET http://host/mcp`, as proxies send it). */
function pathOf({ url = "" }: IncomingMessage): string {
  return (url.startsWith("/") ? url : (URL.parse(url)?.pathname ?? "")).split("?")[0]!;
}

/** Looks now and then, where anything was written, whether the list of tools has changed. */
function toolsTimer(
  { dataVersion }: McpOptions,
  servers: McpServerFactory,
  report: ErrorReporter,
  changed: () => void,
): NodeJS.Timeout {
  let version: number | undefined;
  let shown: string | undefined;
  async function look(): Promise<void> {
    const now = dataVersion();
    if (now === version) return;
    const tools = JSON.stringify((await servers.exposedTools()).tools);
    if (shown !== undefined && shown !== tools) changed();
    shown = tools;
    version = now;
  }
  const lookNow = (): void => void look().catch(report.onError);
  lookNow();
  return setInterval(lookNow, TOOLS_CHECK_MS);
}

/** Looks for messages that other copies passed on, as often as looking is cheap. */
function relayTimer(
  { dataVersion, localFileSystem, log }: McpOptions,
  wanted: () => boolean,
  relay: () => Promise<void>,
): NodeJS.Timeout {
  let seen: number | undefined;
  let failing = false;
  async function look(): Promise<void> {
    if (!wanted()) return;
    try {
      const now = dataVersion();
      if (now === seen) return;
      seen = now;
      await relay();
      failing = false;
    } catch (error) {
      // Whatever waits there still waits: look again, and say once that looking fails.
      seen = undefined;
      if (!failing) log.warn({ err: error }, "messages of other copies can't be looked for");
      failing = true;
    }
  }
  return setInterval(() => void look(), localFileSystem ? 10 : 250);
}
