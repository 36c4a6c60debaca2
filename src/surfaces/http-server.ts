/** The HTTP server of both listeners: limits on slow and large requests, health checks and graceful shutdown. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Health } from "../../schemas/health.ts";
import { AppError, ERRORS, toProblem } from "../core/errors.ts";
import { hostIssue } from "../core/hosts.ts";
import { loggableText } from "../core/loggable-text.ts";
import { newRequestId } from "../core/ids.ts";
import { type ConnectionLimits, connectionLimiter } from "./connection-limit.ts";

/** Maximum size of the headers, in bytes. Load balancers add large ones, for which Node's default of 16 KiB is too small. */
const MAX_HEADER_BYTES = 64 * 1024;
/** Maximum time in which the headers of a request arrive, in milliseconds. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Maximum time in which a whole request arrives, in milliseconds. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Interval of the check for slow requests, in milliseconds. */
const SLOW_CHECK_MS = 2_000;
/**
 * How long an idle connection stays open, in milliseconds. It is longer than the idle timeout of load balancers (60 s),
 * which would otherwise use closed connections.
 */
const KEEP_ALIVE_MS = 72_000;
/** Maximum time for requests in flight after the listener is closed, in milliseconds. */
const DRAIN_LIMIT_MS = 9_000;
/** Interval at which idle connections are closed during shutdown, in milliseconds. */
const IDLE_SWEEP_MS = 50;
/**
 * Maximum number of pipelined requests on a connection. Ordinary clients send the next request after the response. For a
 * client that sends hundreds and reads nothing, the server would have to hold all responses.
 */
const MAX_PIPELINED = 4;
/** How long a refused client may take to read the response and close its side, in milliseconds. */
const LINGER_MS = 1_000;

/** Maximum length of a path in the log, in characters. */
const MAX_LOGGED_PATH = 200;

export interface Lifecycle {
  draining: boolean;
}

export interface Listener {
  port: number;
  /**
   * Reports "draining", keeps serving for `drainDelay` milliseconds, then waits for requests in flight (10 s at most) and
   * closes.
   */
  drain(drainDelay: number): Promise<void>;
}

interface ListenOptions {
  host: string;
  port: number;
  lifecycle: Lifecycle;
  connections: ConnectionLimits;
  /** Maximum time for requests in flight after the listener is closed, in milliseconds. */
  drainTimeoutMs?: number;
  /** Ends event streams, which do not end by themselves. Called after the drain delay. */
  closeStreams?: () => Promise<void>;
}

/** Sends an error as problem details (RFC 9457). */
export function sendProblem(res: ServerResponse, error: AppError, requestId: string): void {
  const body = JSON.stringify(toProblem(error, requestId));
  res.writeHead(error.status, {
    ...error.details.headers,
    "Content-Type": "application/problem+json",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
  });
  res.end(body);
}

/** Logs a request that was refused before it reached an operation; operations log their own errors. */
export function logRejectedRequest(
  log: Logger,
  error: AppError,
  request: { request_id: string; method: string | undefined; path: string; ip?: string | undefined },
): void {
  const level = ERRORS[error.code].log;
  const path = loggableText(request.path, MAX_LOGGED_PATH);
  log[level](
    { ...request, path, code: error.code, ...(level === "error" && { err: error.cause }) },
    "request refused",
  );
}

/**
 * Answers `GET /health`: 200, or 503 while the process drains or can't reach its state.
 * @param checkStorage returns why the state can't be reached, or undefined; soon, also when a file system hangs
 */
export async function sendHealth(
  res: ServerResponse,
  lifecycle: Lifecycle,
  version: string,
  checkStorage: () => Promise<string | undefined>,
): Promise<void> {
  const detail = lifecycle.draining ? "This process is shutting down." : await checkStorage();
  const health: Health = {
    status: lifecycle.draining ? "draining" : detail === undefined ? "ok" : "unavailable",
    version,
    ...(detail !== undefined && { detail }),
  };
  const body = JSON.stringify(health);
  res.writeHead(detail === undefined ? 200 : 503, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
  });
  res.end(body);
}

/**
 * Starts a listener.
 * @throws Error with the system's code (EADDRINUSE, EACCES)
 */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const { host, port, lifecycle, closeStreams, drainTimeoutMs = DRAIN_LIMIT_MS } = options;
  /** By connection, because a pipelined response gets no event when the connection ends. */
  const inFlight = new Map<Socket, Set<ServerResponse>>();
  const limiter = connectionLimiter(options.connections, (socket) => inFlight.get(socket)?.size === 0);
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const responses = inFlight.get(req.socket);
    responses?.add(res);
    res.once("close", () => {
      responses?.delete(res);
      limiter.recordUse(req.socket);
    });
    if (responses === undefined || responses.size > MAX_PIPELINED) {
      req.socket.destroy();
      return;
    }
    if (lifecycle.draining) closeAfterResponse(res);
    const issue = hostIssueOf(req);
    if (issue !== undefined) {
      res.setHeader("Connection", "close");
      sendProblem(res, new AppError("invalid_request", issue), newRequestId());
    } else handler(req, res);
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: SLOW_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Checked above, because Node's own refusal has no body.
      requireHostHeader: false,
    },
    serve,
  );
  // Other expectations than `100-continue` are ignored (RFC 9110, section 10.1.1).
  server.on("checkExpectation", serve);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // While a response is being sent, the client would read an error response as a part of it.
    const responses = [...(inFlight.get(socket) ?? [])];
    const isSending = responses.some((res) => res.socket === socket && res.headersSent);
    if (isSending) socket.destroy();
    else rejectMalformedRequest(error, socket);
  });
  server.on("connection", (socket: Socket) => {
    if (!limiter.admit(socket)) {
      socket.destroy();
      return;
    }
    inFlight.set(socket, new Set());
    socket.once("close", () => inFlight.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async drain(drainDelay) {
      lifecycle.draining = true;
      for (const responses of inFlight.values()) responses.forEach(closeAfterResponse);
      if (drainDelay > 0) await delay(drainDelay);
      const closed = close(server, inFlight, drainTimeoutMs);
      await closeStreams?.();
      await closed;
    },
  };
}

/** Why the host of a request is not clear; undefined when it is. Node keeps only the first of several `Host` headers. */
function hostIssueOf({ rawHeaders, httpVersion, url = "" }: IncomingMessage): string | undefined {
  const hosts = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === "host" && index % 2 === 1,
  );
  if (hosts.length === 0 && httpVersion === "1.1") return "The request has no Host header.";
  return hostIssue(url, hosts);
}

/** Makes a keep-alive client open a new connection, and so reach another copy, after this response. */
function closeAfterResponse(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader("Connection", "close");
}

async function close(
  server: Server,
  sockets: ReadonlyMap<Socket, unknown>,
  drainLimit: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Repeated, because a connection becomes idle only after its stream has ended.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    // Clients open connections in advance. Node does not treat a connection without any request as idle.
    for (const socket of sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
  }, IDLE_SWEEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), drainLimit);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}

/** Sends problem details for a request that Node's parser refuses, which never reaches a handler. */
function rejectMalformedRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, problem] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          431,
          "Request Header Fields Too Large",
          new AppError(
            "headers_too_large",
            `The headers are larger than ${MAX_HEADER_BYTES / 1024} KiB in total. Send less.`,
          ),
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? [
            408,
            "Request Timeout",
            new AppError("request_timeout", "The request did not arrive in time. Send it again, faster."),
          ]
        : [400, "Bad Request", new AppError("invalid_request", "This is not a valid HTTP request.")];
  const requestId = newRequestId();
  const body = JSON.stringify(toProblem(problem, requestId));
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Nothing else closes the connection of a client that never closes its side.
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
}
