/**
 * The transport of 2024-11-05: `GET /sse` opens a stream, `POST /messages` sends a message. A message that reaches a copy
 * without the stream is relayed through the store; it gets 404 when the process that held the stream has died.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthInfo,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Server,
} from "@modelcontextprotocol/server";
import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import type { Access } from "../../core/access.ts";
import { AppError } from "../../core/errors.ts";
import type { Principal } from "../../core/ports.ts";
import { readMessage, readMessageText } from "./http-messages.ts";
import { paramsRefusal } from "./request-params.ts";
import { type RelayOptions, relayMessage, streamHolder } from "./relay.ts";
import { toAuthInfo } from "./request-identity.ts";
import type { ResourceWatch } from "./resource-watch.ts";
import type { McpServerFactory, ErrorReporter } from "./server.ts";
import type { StreamRegistry } from "../streams.ts";

/** Maximum unread output of a stream, in bytes. Above it, further messages are refused until the client has read. */
const UNREAD_LIMIT = 4 * 1024 * 1024;
/** Number of relayed messages fetched at a time: few, so that their responses count as unread output before the next ones. */
const RELAY_BATCH = 8;

export interface SseTransport {
  open(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  message(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  /** Delivers messages that other copies have relayed. Called when the store has changed. */
  deliverRelayed(): Promise<void>;
  /** Notifies the streams of these callers that their list of tools has changed. */
  toolsChanged(isMeant: (access: Access) => boolean): void;
  /** The ids of the streams of this copy. */
  sessionIds(): string[];
  /** Stops the heartbeats, after the streams are closed. */
  stop(): Promise<void>;
}

interface OpenSession {
  principal: Principal;
  server: Server;
  transport: SSEServerTransport;
  res: ServerResponse;
}

const noSession = (): AppError =>
  new AppError("session_not_found", "There is no such stream of this key. Open a new one with GET /sse.");

/** @param pathPrefix in front of the path at which clients send messages */
export function sseTransport(
  servers: McpServerFactory,
  relay: RelayOptions,
  streams: StreamRegistry,
  watch: Pick<ResourceWatch, "add">,
  report: ErrorReporter,
  onStreamCount: (count: number) => void,
  pathPrefix: string,
): SseTransport {
  const { sessions } = relay;
  const open = new Map<string, OpenSession>();
  const holder = streamHolder(
    relay,
    () => {
      for (const { res } of open.values()) res.end();
    },
    report,
  );
  const countStreams = (): void => {
    holder.setStreamCount(open.size);
    onStreamCount(open.size);
  };
  const hasRoom = ({ res }: OpenSession): boolean => res.writableLength <= UNREAD_LIMIT;

  async function deliverQueued(): Promise<void> {
    for (let count = RELAY_BATCH; count === RELAY_BATCH;) {
      // Messages of a client that does not read stay in the store.
      const ready = [...open].filter(([, session]) => hasRoom(session)).map(([id]) => id);
      if (ready.length === 0) return;
      const messages = await sessions.dequeueMessages(ready, RELAY_BATCH);
      for (const { sessionId, body } of messages) {
        const session = open.get(sessionId);
        if (session === undefined) continue;
        const { message, argumentIssues } = readMessageText(body);
        await deliver(session, message, toAuthInfo(session.principal, { argumentIssues })).catch(
          report.onError,
        );
      }
      count = messages.length;
      // The responses are written in the meantime, and count as unread output.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  let relaying: Promise<void> | undefined;
  let rerunRequested = false;
  /** Delivers relayed messages, one run at a time. A call during a run makes it run once more. */
  function deliverRelayed(): Promise<void> {
    rerunRequested = true;
    relaying ??= (async () => {
      try {
        while (rerunRequested) {
          rerunRequested = false;
          await deliverQueued();
        }
      } finally {
        relaying = undefined;
      }
    })();
    return relaying;
  }

  return {
    sessionIds: () => [...open.keys()],

    async open(_req, res, principal) {
      // After the client has gone there is no close event.
      if (res.destroyed) return;
      res.once("close", streams.reserve(principal, "sse"));
      res.setHeader("X-Accel-Buffering", "no");
      const server = await servers.create({ introduces: true });
      const transport = new SSEServerTransport(`${pathPrefix}/messages`, res);
      const id = transport.sessionId;
      // Stored before the client learns of it, because its first message may reach any copy.
      await sessions.insert({
        id,
        keyId: principal.keyId,
        kind: "sse",
        initialize: null,
        holder: holder.id(),
      });
      // The client may have gone during the write; there is no later event.
      if (res.destroyed) return sessions.remove(id);
      const session = { principal, server, transport, res };
      open.set(id, session);
      countStreams();
      res.on("drain", () => void deliverRelayed().catch(report.onError));
      const unregister = streams.add({ principal, res, keepAlive: true });
      const endNotices = watch.add({
        principal,
        of: { sessionId: id },
        notify(uri) {
          const isSent = hasRoom(session);
          if (isSent) server.sendResourceUpdated({ uri }).catch(report.onError);
          return isSent;
        },
      });
      server.onerror = report.onRejected;
      server.onclose = () => {
        open.delete(id);
        countStreams();
        unregister();
        endNotices();
        sessions.remove(id).catch(report.onError);
      };
      await server.connect(transport);
    },

    async message(req, res, principal) {
      const id = new URL(req.url ?? "", "http://localhost").searchParams.get("sessionId") ?? "";
      const session = open.get(id);
      const stored = session === undefined ? await sessions.find(id) : undefined;
      const owner = session?.principal.keyId ?? (stored?.kind === "sse" ? stored.keyId : undefined);
      if (owner !== principal.keyId) throw noSession();
      const received = await readMessage(req);
      const message =
        paramsRefusal(received.message) === undefined ? asJsonRpc(received.message) : received.message;
      if (session === undefined) {
        if (!(await relayMessage(relay, stored!, received.text))) throw noSession();
      } else {
        if (!hasRoom(session)) {
          throw new AppError(
            "busy",
            "Your stream has too much unread output. Read it, then send the message again.",
            {
              headers: { "Retry-After": "1" },
            },
          );
        }
        await deliver(
          session,
          message,
          toAuthInfo(principal, {
            requestId: res.getHeader("x-request-id") as string,
            headers: req.headers,
            argumentIssues: received.argumentIssues,
          }),
        );
      }
      res.writeHead(202).end("Accepted");
    },

    deliverRelayed,
    stop: () => holder.stop(),

    toolsChanged(isMeant) {
      for (const session of open.values())
        if (isMeant(session.principal.access) && hasRoom(session))
          session.server.sendToolListChanged().catch(report.onError);
    },
  };
}

function deliver({ transport }: OpenSession, message: unknown, authInfo: AuthInfo): Promise<void> {
  const refusal = paramsRefusal(message);
  return refusal === undefined
    ? transport.handleMessage(message, { authInfo })
    : transport.send(refusal as JSONRPCMessage);
}

/** Validates a message where it arrives, because the copy with the stream could not report an error. */
function asJsonRpc(message: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(message);
  } catch (error) {
    throw new AppError("invalid_request", "The body is not a JSON-RPC 2.0 message.", { cause: error });
  }
}
