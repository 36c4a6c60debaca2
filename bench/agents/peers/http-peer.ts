/** A web service on loopback that answers what a task says. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Effect } from "../effects.ts";

export interface PeerRequest {
  method: string;
  /** Percent-encoded, as it arrived. */
  path: string;
  query: URLSearchParams;
  /** The parsed body; undefined without one, or if it is not JSON. */
  json: unknown;
}

export interface PeerReply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface HttpPeer {
  /** `http://127.0.0.1:port` */
  url: string;
  host: string;
  received: PeerRequest[];
  close(): Promise<void>;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

async function readBody(raw: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of raw) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Starts the service on a free port.
 * @param effects receives every request that may change something; left out for services without effects
 */
export async function startHttpPeer(
  answer: (request: PeerRequest) => PeerReply | Promise<PeerReply>,
  effects?: Effect[],
): Promise<HttpPeer> {
  const received: PeerRequest[] = [];
  const server = createServer((raw, response) => {
    void (async () => {
      const { method = "GET", url = "/" } = raw;
      const { pathname, searchParams } = new URL(url, "http://peer");
      const json = await readBody(raw);
      const request = { method, path: pathname, query: searchParams, json };
      received.push(request);
      if (!READING.has(method)) effects?.push({ kind: "request", summary: `${method} ${pathname}` });
      const { status = 200, headers = {}, body = null } = await answer(request);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
