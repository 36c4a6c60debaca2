/**
 * `/mcp`: stateless for the revision 2026-07-28 and for clients of 2025 that open no session, and with sessions for those
 * that do. A session is a row: any copy can build it again by replaying its `initialize`.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthInfo,
  classifyInboundRequest,
  createMcpHandler,
  type InitializeRequest,
  isInitializeRequest,
  type McpRequestContext,
} from "@modelcontextprotocol/server";
import type { Access } from "../../core/access.ts";
import { AppError } from "../../core/errors.ts";
import type { Principal } from "../../core/ports.ts";
import type { McpSessionStore } from "../../core/mcp-session-port.ts";
import { acceptedTypes, inAcceptedType, notAcceptable } from "./accept.ts";
import {
  CLOSING_EVENT,
  findResumedCall,
  interruptedError,
  openingEvent,
  type ResumableCall,
  toCallRequest,
  toResumableCall,
} from "./resumable-calls.ts";
import { sessionCache } from "./session-cache.ts";
import {
  isEventStream,
  MAX_MESSAGE_BYTES,
  methodOf,
  readMessage,
  sendWebResponse,
  toWebRequest,
} from "./http-messages.ts";
import { paramsRefusal } from "./request-params.ts";
import { type RequestDetails, toAuthInfo } from "./request-identity.ts";
import { resourceListeningOf } from "./resource-subscriptions.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import type { McpServerFactory, ErrorReporter } from "./server.ts";
import { toInitializeReplay, sessionTransports, type Transport } from "./session-transport.ts";
import { requireGrantedScope } from "./step-up.ts";
import { opensUrlsIn } from "./tasks.ts";
import { refusalOf, taskSubscriptionOf, withTaskNotifications } from "./task-notifications.ts";
import { KEEP_ALIVE_MS, type StreamRegistry } from "../streams.ts";

/** The request of 2026-07-28 that opens a stream of notifications. */
const SUBSCRIBE = "subscriptions/listen";

export interface StreamableHttpTransport {
  handle(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  /** Sessions used since the last call. */
  takeUsedSessions(): string[];
  /** Notifies the listening clients of these callers that their list of tools has changed. */
  toolsChanged(isMeant: (access: Access) => boolean): void;
  /** Closes every session of this copy. Called after the listener is closed, so that no client finds its session missing. */
  close(): Promise<void>;
}

export function streamableHttpTransport(
  servers: McpServerFactory,
  sessions: McpSessionStore,
  streams: StreamRegistry,
  watch: Pick<ResourceWatch, "add" | "readable">,
  report: ErrorReporter,
): StreamableHttpTransport {
  const newHandler = () =>
    createMcpHandler((request) => servers.create({ introduces: introduces(request) }), {
      legacy: "stateless",
      keepAliveMs: KEEP_ALIVE_MS,
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onerror: report.onRejected,
    });
  const stateless = newHandler();
  // Each has a handler of its own, because a handler notifies all of its subscriptions.
  const subscriptions = new Set<{ access: Access; handler: ReturnType<typeof newHandler> }>();
  const { build, rebuild } = sessionTransports(servers, report);
  const cache = sessionCache(report);
  const used = new Set<string>();

  /** Continues a session. */
  async function resume<T>(
    id: string,
    principal: Principal,
    work: (transport: Transport) => Promise<T>,
  ): Promise<T> {
    const session = await sessions.find(id);
    if (session === undefined) cache.evict(id);
    // A session of another key is reported as missing, and is not affected.
    if (session === undefined || session.kind !== "http" || session.keyId !== principal.keyId) {
      throw new AppError(
        "session_not_found",
        "There is no such session of this key. Start a new one with initialize.",
      );
    }
    used.add(id);
    return cache.withSession(id, principal, () => rebuild(session), work);
  }

  /** Starts a session. It is stored after the SDK has accepted it and before the client learns of it. */
  async function start(
    body: InitializeRequest,
    principal: Principal,
    handle: (transport: Transport) => Promise<Response>,
    send: Send,
  ): Promise<void> {
    const id = randomUUID();
    await cache.withSession(
      id,
      principal,
      () => build(id),
      async (transport) => {
        let isStored = false;
        try {
          const response = await handle(transport);
          if (response.ok) {
            await sessions.insert({
              id,
              keyId: principal.keyId,
              kind: "http",
              initialize: toInitializeReplay(body),
              holder: null,
            });
            isStored = true;
          }
          await send(response);
        } finally {
          if (!isStored) cache.evict(id);
        }
      },
    );
  }

  /** Answers one request with `send`; its session stays in use until that is done. */
  async function serve(
    req: IncomingMessage,
    body: unknown,
    signal: AbortSignal,
    { principal, hasRoom, ...details }: Caller,
    send: Send,
  ): Promise<void> {
    const request = toWebRequest(req, signal);
    const { argumentIssues = [] } = details;
    const call = toResumableCall({ message: body, argumentIssues }, req.headers["mcp-protocol-version"]);
    const authInfo = toAuthInfo(principal, { ...details, headers: req.headers, callKey: call?.key });
    const options = { authInfo, ...(body !== undefined && { parsedBody: body }) };
    const handle = (transport: Transport) => transport.handleRequest(request, options);

    const id = req.headers["mcp-session-id"];
    if ((id !== undefined || methodOf(body) === "initialize") && isLegacy(req, body)) {
      if (typeof id === "string") {
        return resume(id, principal, async (transport) => {
          const resumed = resumedCallOf(req);
          if (resumed !== undefined) {
            const { key: callKey } = resumed;
            const info = toAuthInfo(principal, { ...details, headers: req.headers, callKey });
            return send(await resumeCall(transport, id, resumed, info), resumed);
          }
          const response = await handle(transport);
          if (req.method === "DELETE" && response.ok) {
            cache.evict(id);
            await sessions.remove(id);
          }
          if (req.method !== "GET" || !response.ok) return send(response, call);
          const endNotices = watch.add({
            principal,
            of: { sessionId: id },
            notify(uri) {
              if (!hasRoom()) return false;
              const notice = {
                jsonrpc: "2.0",
                method: "notifications/resources/updated",
                params: { uri },
              } as const;
              transport.send(notice).catch(report.onError);
              return true;
            },
          });
          await send(response).finally(endNotices);
        });
      }
      if (isInitializeRequest(body)) return start(body, principal, handle, send);
    }
    if (methodOf(body) !== SUBSCRIBE) return send(await stateless.fetch(request, options));
    const tasks = taskSubscriptionOf(body);
    const refusal = tasks && refusalOf(tasks);
    if (refusal !== undefined) return send(refusal);
    const listening = resourceListeningOf(body);
    if (listening?.refusal !== undefined) return send(Response.json(listening.refusal, { status: 400 }));
    const resources = listening === undefined ? [] : await watch.readable(principal, listening.resources);
    const parsedBody = listening === undefined ? body : listening.withUris(resources.map(({ uri }) => uri));
    const subscription = { access: principal.access, handler: newHandler() };
    const { handler } = subscription;
    let endNotices: (() => void) | undefined;
    subscriptions.add(subscription);
    try {
      const response = await handler.fetch(request, { authInfo, parsedBody });
      if (resources.length > 0)
        endNotices = watch.add({
          principal,
          of: { resources },
          notify(uri) {
            if (!hasRoom()) return false;
            handler.notify.resourceUpdated(uri);
            return true;
          },
        });
      if (tasks === undefined) return await send(response);
      const opensUrls = opensUrlsIn(tasks.params["_meta"]);
      const watchTask = servers.watchTasks(principal, details.requestId!, opensUrls);
      await send(withTaskNotifications(response, tasks, watchTask, signal));
    } finally {
      subscriptions.delete(subscription);
      endNotices?.();
      await handler.close();
    }
  }

  return {
    async handle(req, res, principal) {
      const received = req.method === "POST" ? await readMessage(req) : undefined;
      const body = received?.message;
      const isStream = req.method === "GET" || methodOf(body) === SUBSCRIBE;
      const accepted = acceptedTypes(req.headers.accept);
      if (req.method !== "DELETE" && !accepted.events && (isStream || !accepted.json))
        return sendWebResponse(notAcceptable(req.headers.accept!, idOf(body), isStream), res);
      // Before anything is sent: the answer to the call can be a stream, whose status is 200.
      const tool = principal.application === true ? calledTool(body) : undefined;
      if (tool !== undefined) requireGrantedScope(principal, tool, await servers.scopeOf(tool, principal));
      const disconnected = new AbortController();
      res.once("close", () => {
        if (!res.writableFinished) disconnected.abort();
      });
      const caller = {
        principal,
        hasRoom: () => !res.writableNeedDrain,
        requestId: res.getHeader("x-request-id") as string,
        argumentIssues: received?.argumentIssues,
        // Since 2026-07-28 a question is the answer; before, it is an event before the answer, which JSON has no place for.
        canAsk: accepted.events || !isLegacy(req, body),
      };
      const staysOpen =
        (req.method === "GET" && resumedCallOf(req) === undefined) || methodOf(body) === SUBSCRIBE;
      const release = staysOpen ? streams.reserve(principal, "mcp") : undefined;
      const send: Send = async (answer, call) => {
        const response = await inAcceptedType(answer, accepted, idOf(body));
        const streamed = isEventStream(response);
        if (streamed) res.setHeader("X-Accel-Buffering", "no");
        const unregister = streamed ? streams.add({ principal, res, answer: !staysOpen }) : undefined;
        const frame = call && { before: openingEvent(call), after: CLOSING_EVENT };
        await sendWebResponse(response, res, frame).finally(unregister);
      };
      const refusal = paramsRefusal(body);
      if (refusal !== undefined) await send(Response.json(refusal)).finally(release);
      else await serve(req, body, disconnected.signal, caller, send).finally(release);
    },
    takeUsedSessions() {
      const ids = [...used];
      used.clear();
      return ids;
    },
    toolsChanged(isMeant) {
      for (const { access, handler } of subscriptions) if (isMeant(access)) handler.notify.toolsChanged();
      // Sent on the stream that a client has opened for notifications; without one it is dropped.
      cache.forEach(isMeant, (transport) =>
        transport.send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }),
      );
    },
    async close() {
      await Promise.all(
        [stateless, ...[...subscriptions].map(({ handler }) => handler)].map((one) => one.close()),
      );
      await cache.closeAll();
    },
  };
}

/** Whether the answer to a request without a session introduces the server. */
const introduces = ({ requestInfo }: McpRequestContext): boolean =>
  requestInfo?.headers.get("mcp-method") === "server/discover";

/** Who sent a request, and whether the client reads what is sent to it. */
type Caller = RequestDetails & { principal: Principal; hasRoom(): boolean };

/** Sends a response. @param call what the client can resume when the response breaks off */
type Send = (response: Response, call?: ResumableCall) => Promise<void>;

/** The id of a JSON-RPC request; null for another message. */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** The name of the tool that a message calls; undefined for another message. */
function calledTool(message: unknown): string | undefined {
  if (methodOf(message) !== "tools/call") return undefined;
  const { name } = ((message as { params?: unknown }).params ?? {}) as { name?: unknown };
  return typeof name === "string" ? name : undefined;
}

/** The call that a request resumes. @throws AppError method_not_allowed, invalid_request */
function resumedCallOf({ method, headers }: IncomingMessage): ResumableCall | undefined {
  const lastEventId = headers["last-event-id"];
  return method === "GET" && typeof lastEventId === "string" ? findResumedCall(lastEventId) : undefined;
}

/** Answers a call that was interrupted: by executing it again, else with an error. */
async function resumeCall(
  transport: Transport,
  sessionId: string,
  call: ResumableCall,
  authInfo: AuthInfo,
): Promise<Response> {
  const message = toCallRequest(call);
  if (message === undefined) {
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" };
    return new Response(`event: message\ndata: ${JSON.stringify(interruptedError(call))}\n\n`, { headers });
  }
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": sessionId,
  };
  const request = new Request("http://localhost/mcp", { method: "POST", headers });
  return transport.handleRequest(request, { authInfo, parsedBody: message });
}

/** Whether a request is of a protocol revision that has sessions. */
function isLegacy(req: IncomingMessage, body: unknown): boolean {
  const header = (name: string) => (typeof req.headers[name] === "string" ? req.headers[name] : undefined);
  const [version, method, name] = [header("mcp-protocol-version"), header("mcp-method"), header("mcp-name")];
  const { kind } = classifyInboundRequest({
    httpMethod: req.method ?? "",
    body,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  });
  return kind === "legacy";
}
