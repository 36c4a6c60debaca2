/**
 * The 2024-11-05 transport: `GET /sse` opens a stream, `POST /messages` sends on it. A message that reaches a copy
 * which does not hold the stream is passed on through the store.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SSEServerTransport } from "@modelcontextprotocol/server-legacy/sse";
import { AppError } from "../../core/errors.ts";
import type { McpSessionStore, Principal } from "../../core/ports.ts";
import { readMessage } from "./exchange.ts";
import { type McpServers, toAuthInfo } from "./server.ts";
import type { Streams } from "./streams.ts";

/** A reader who lets this much pile up, in bytes, gets no more work done until it has read. */
const UNREAD_LIMIT = 4 * 1024 * 1024;

export interface SseLeg {
  open(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  message(req: IncomingMessage, res: ServerResponse, principal: Principal): Promise<void>;
  /** Takes up what other copies passed on. Called when the store has changed. */
  relay(): Promise<void>;
  /** The streams that this copy holds. */
  sessionIds(): string[];
}

interface Held {
  principal: Principal;
  transport: SSEServerTransport;
  res: ServerResponse;
}

const noSession = (): AppError =>
  new AppError("session_not_found", "There is no such stream with this key. Open a new one with GET /sse.");

export function sseLeg(
  servers: McpServers,
  sessions: McpSessionStore,
  streams: Streams,
  report: (error: unknown) => void,
): SseLeg {
  const held = new Map<string, Held>();

  return {
    sessionIds: () => [...held.keys()],

    async open(_req, res, principal) {
      streams.checkRoom();
      res.setHeader("X-Accel-Buffering", "no");
      const transport = new SSEServerTransport("/messages", res);
      const id = transport.sessionId;
      // Known everywhere before the client learns of it: its first message may reach any copy.
      await sessions.insert({ id, keyId: principal.keyId, kind: "sse", initialize: null });
      const server = servers.create();
      held.set(id, { principal, transport, res });
      const forget = streams.add({
        keyId: principal.keyId,
        keepAlive: () => res.write(": keep-alive\n\n"),
        close: () => res.end(),
      });
      server.onerror = report;
      server.onclose = () => {
        held.delete(id);
        forget();
        sessions.remove(id).catch(report);
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
      const message = await readMessage(req);
      if (here === undefined) {
        await sessions.post(id, JSON.stringify(message));
      } else {
        if (here.res.writableLength > UNREAD_LIMIT) {
          throw new AppError("busy", "Read what is waiting on your stream first.", {
            headers: { "Retry-After": "1" },
          });
        }
        await deliver(here, message, principal);
      }
      res.writeHead(202).end("Accepted");
    },

    async relay() {
      if (held.size === 0) return;
      for (const { sessionId, body } of await sessions.take([...held.keys()])) {
        const here = held.get(sessionId);
        if (here !== undefined) await deliver(here, JSON.parse(body), here.principal).catch(report);
      }
    },
  };
}

async function deliver({ transport }: Held, message: unknown, principal: Principal): Promise<void> {
  try {
    await transport.handleMessage(message, { authInfo: toAuthInfo(principal) });
  } catch (error) {
    throw new AppError("invalid_request", "The body is not a JSON-RPC 2.0 message.", { cause: error });
  }
}
