/**
 * The 2024-11-05 transport: `GET /sse` opens a stream, `POST /messages` sends on it. A message that reaches a copy
 * which does not hold the stream is passed on through the store.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AuthInfo,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Server,
} from "@modelcontextprotocol/server";
import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import { AppError } from "../../core/errors.ts";
import type { McpSessionStore, Principal } from "../../core/ports.ts";
import { readMessage } from "./http-messages.ts";
import { type McpServerFactory, type ErrorReporter, toAuthInfo } from "./server.ts";
import type { StreamRegistry } from "../streams.ts";

/** A reader who lets this much pile up, in bytes, gets no more work done until it has read. */
const UNREAD_LIMIT = 4 * 1024 * 1024;
/** Few, so that what they answer is counted before more are taken. */
const RELAYED_AT_ONCE = 8;

export interface SseTransport {
  open(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  message(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  /** Takes up what other copies passed on. Called when the store has changed. */
  deliverRelayed(): Promise<void>;
  /** Says on every stream that the list of tools has changed. */
  toolsChanged(): void;
  /** The streams that this copy holds. */
  sessionIds(): string[];
}

interface Held {
  principal: Principal;
  server: Server;
  transport: SSEServerTransport;
  res: ServerResponse;
}

const noSession = (): AppError =>
  new AppError("session_not_found", "There is no such stream with this key. Open a new one with GET /sse.");

export function sseTransport(
  servers: McpServerFactory,
  sessions: McpSessionStore,
  streams: StreamRegistry,
  report: ErrorReporter,
  onStreamCount: (count: number) => void,
): SseTransport {
  const held = new Map<string, Held>();
  const hasRoom = ({ res }: Held): boolean => res.writableLength <= UNREAD_LIMIT;

  async function relayWaiting(): Promise<void> {
    for (let taken = RELAYED_AT_ONCE; taken === RELAYED_AT_ONCE;) {
      // What is for a reader who does not read stays in the store.
      const ready = [...held].filter(([, here]) => hasRoom(here)).map(([id]) => id);
      if (ready.length === 0) return;
      const messages = await sessions.dequeueMessages(ready, RELAYED_AT_ONCE);
      for (const { sessionId, body } of messages) {
        const here = held.get(sessionId);
        if (here !== undefined)
          await deliver(here, JSON.parse(body), toAuthInfo(here.principal)).catch(report.onError);
      }
      taken = messages.length;
      // A turn, in which the answers are written and count.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  let relaying: Promise<void> | undefined;
  let again = false;
  /** One at a time, however many ask: who asks meanwhile has it looked once more. */
  function deliverRelayed(): Promise<void> {
    again = true;
    relaying ??= (async () => {
      try {
        while (again) {
          again = false;
          await relayWaiting();
        }
      } finally {
        relaying = undefined;
      }
    })();
    return relaying;
  }

  return {
    sessionIds: () => [...held.keys()],

    async open(_req, res, principal) {
      // Gone already: its close would tell us nothing more.
      if (res.destroyed) return;
      res.once("close", streams.reserve(principal, "sse"));
      res.setHeader("X-Accel-Buffering", "no");
      const transport = new SSEServerTransport("/messages", res);
      const id = transport.sessionId;
      // Known everywhere before the client learns of it: its first message may reach any copy.
      await sessions.insert({ id, keyId: principal.keyId, kind: "sse", initialize: null });
      // Gone while that waited for the store: nobody would tell us again.
      if (res.destroyed) return sessions.remove(id);
      const server = servers.create();
      held.set(id, { principal, server, transport, res });
      onStreamCount(held.size);
      res.on("drain", () => void deliverRelayed().catch(report.onError));
      const forget = streams.add({ keyId: principal.keyId, res, keepAlive: true });
      server.onerror = report.onRejected;
      server.onclose = () => {
        held.delete(id);
        onStreamCount(held.size);
        forget();
        sessions.remove(id).catch(report.onError);
      };
      await server.connect(transport);
    },

    async message(req, res, principal) {
      const id = new URL(req.url ?? "", "http://localhost").searchParams.get("sessionId") ?? "";
      const here = held.get(id);
      const owner =
        here?.principal.keyId ??
        (await sessions.find(id).then((it) => (it?.kind === "sse" ? it.keyId : undefined)));
      if (owner !== principal.keyId) throw noSession();
      const message = asJsonRpc(await readMessage(req));
      if (here === undefined) {
        await sessions.enqueueMessage(id, JSON.stringify(message));
      } else {
        if (!hasRoom(here)) {
          throw new AppError("busy", "Read what is waiting on your stream first.", {
            headers: { "Retry-After": "1" },
          });
        }
        await deliver(
          here,
          message,
          toAuthInfo(principal, res.getHeader("x-request-id") as string, req.headers),
        );
      }
      res.writeHead(202).end("Accepted");
    },

    deliverRelayed,

    toolsChanged() {
      for (const here of held.values())
        if (hasRoom(here)) here.server.sendToolListChanged().catch(report.onError);
    },
  };
}

const deliver = ({ transport }: Held, message: unknown, authInfo: AuthInfo): Promise<void> =>
  transport.handleMessage(message, { authInfo });

/** Judged where it arrives: the copy that holds the stream could tell nobody. */
function asJsonRpc(message: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(message);
  } catch (error) {
    throw new AppError("invalid_request", "The body is not a JSON-RPC 2.0 message.", { cause: error });
  }
}
