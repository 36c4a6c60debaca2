/** What both listeners share: bounds on slow and large requests, health, and an end that loses nobody. */
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
import { newRequestId } from "../core/ids.ts";

/** Load balancers add large headers of their own; Node's default of 16 KiB is too small behind one. */
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const SLOW_CHECK_MS = 2_000;
/** Above the idle time of the load balancers in use (60 s), or they meet a closed connection. */
const KEEP_ALIVE_MS = 72_000;
/** How long what is in flight may take once the listener is closed. */
const DRAIN_LIMIT_MS = 9_000;
const IDLE_SWEEP_MS = 50;
/**
 * Requests that one connection may have waiting. Browsers, agents and proxies send the next one when they have the answer;
 * who sends hundreds together, and reads nothing, would have us hold all the answers.
 */
const MOST_PIPELINED = 4;
/** How long a client that was refused has for reading why and closing its side. */
const LINGER_MS = 1_000;

export interface Lifecycle {
  draining: boolean;
}

export interface Listener {
  port: number;
  /**
   * Says "not healthy", goes on serving for `drainDelay` milliseconds, then lets what is in flight finish
   * (10 s at most) and closes.
   */
  drain(drainDelay: number): Promise<void>;
}

interface ListenOptions {
  host: string;
  port: number;
  lifecycle: Lifecycle;
  /** More connections than these are closed at once; without it there is no limit. */
  maxConnections?: number;
  /** How long what is in flight may take once the listener is closed, in milliseconds. */
  drainTimeoutMs?: number;
  /** Ends what would stay open for ever: event streams. Called when the drain delay is over. */
  closeStreams?: () => Promise<void>;
}

/** Sends a problem (RFC 9457). */
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

/** Writes down a request that was refused before an operation was reached; what happens inside one is logged there. */
export function logRejectedRequest(
  log: Logger,
  error: AppError,
  request: { request_id: string; method: string | undefined; path: string; ip?: string | undefined },
): void {
  const level = ERRORS[error.code].log;
  log[level](
    { ...request, code: error.code, ...(level === "error" && { err: error.cause }) },
    "request refused",
  );
}

/**
 * Answers `GET /health`: 200 while it can serve, 503 while it drains or can't reach its state.
 * @param checkStorage why the state can't be reached, or undefined
 */
export async function sendHealth(
  res: ServerResponse,
  lifecycle: Lifecycle,
  version: string,
  checkStorage: () => Promise<string | undefined>,
): Promise<void> {
  // A network file system that hangs must not hang the probe: not knowing in time is not healthy.
  const detail = lifecycle.draining
    ? "This process is shutting down."
    : await Promise.race([
        checkStorage(),
        delay(2_000, "The state directory does not answer.", { ref: false }),
      ]);
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
 * Listens.
 * @throws Error with the system's code (EADDRINUSE, EACCES) when it can't
 */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const { host, port, lifecycle, closeStreams, maxConnections, drainTimeoutMs = DRAIN_LIMIT_MS } = options;
  /** By connection: what waits for its turn behind another answer never hears that the connection has ended. */
  const inFlight = new Map<Socket, Set<ServerResponse>>();
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const together = inFlight.get(req.socket);
    together?.add(res);
    res.once("close", () => together?.delete(res));
    if (together === undefined || together.size > MOST_PIPELINED) {
      req.socket.destroy();
      return;
    }
    if (lifecycle.draining) sendElsewhere(res);
    if (req.headers.host === undefined && req.httpVersion === "1.1") {
      res.setHeader("Connection", "close");
      sendProblem(res, new AppError("invalid_request", "The request has no Host header."), newRequestId());
    } else handler(req, res);
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: SLOW_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node's own refusal would have no body.
      requireHostHeader: false,
    },
    serve,
  );
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  // Whatever a client expects beside `100-continue`, it gets the answer. RFC 9110, section 10.1.1.
  server.on("checkExpectation", serve);
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // Pipelined behind a request that is being answered: a second answer in the midst of the first would be read as its body.
    const together = [...(inFlight.get(socket) ?? [])];
    const answering = together.some((res) => res.socket === socket && res.headersSent);
    if (answering) socket.destroy();
    else refuseBrokenRequest(error, socket);
  });
  server.on("connection", (socket: Socket) => {
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
      for (const together of inFlight.values()) together.forEach(sendElsewhere);
      if (drainDelay > 0) await delay(drainDelay);
      const closed = close(server, inFlight, drainTimeoutMs);
      await closeStreams?.();
      await closed;
    },
  };
}

/** Keep-alive clients leave one answer at a time. */
function sendElsewhere(res: ServerResponse): void {
  if (!res.headersSent) res.setHeader("Connection", "close");
}

async function close(
  server: Server,
  sockets: ReadonlyMap<Socket, unknown>,
  drainLimit: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Again and again: a stream that was ended leaves a connection that is idle only now.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    // Clients connect in advance; to Node a connection that nothing has come on is not idle.
    for (const socket of sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
  }, IDLE_SWEEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), drainLimit);
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}

/** What Node's parser refuses never reaches the handlers; it gets a problem all the same. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
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
            `The headers are larger than ${MAX_HEADER_BYTES / 1024} KiB together. Send less.`,
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
  // One that never closes its side would keep the connection for good: nothing else watches over it any more.
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
}
