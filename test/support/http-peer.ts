/** An HTTP server on loopback that a test plays the other side with. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { z } from "zod";
import { Config } from "../../schemas/config.ts";
import { StepError } from "../../src/core/step-errors.ts";

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Peer {
  /** `http://127.0.0.1:port` */
  url: string;
  /** `127.0.0.1:port` */
  host: string;
  port: number;
  received: Received[];
  /** How many connections it has had. */
  connections(): number;
  /** Resolves when a request has come whole. */
  called: Promise<void>;
  /** Resolves when a request's connection was closed by the other side. */
  left: Promise<void>;
}

/** Starts one; closed when the test has finished. */
export async function httpPeer(
  answer: (request: Received, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>,
): Promise<Peer> {
  const received: Received[] = [];
  let connections = 0;
  const called = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = createServer((raw, response) => {
    const parts: Buffer[] = [];
    response.on("close", () => left.resolve());
    raw.on("data", (part: Buffer) => parts.push(part));
    raw.on("end", () => {
      const { method = "", url = "", headers } = raw;
      const request = { method, path: url, headers, body: Buffer.concat(parts).toString() };
      received.push(request);
      called.resolve();
      void answer(request, response, raw);
    });
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    port,
    received,
    connections: () => connections,
    called: called.promise,
    left: left.promise,
  };
}

/** A whole configuration out of what a test cares for. */
export const configOf = (part: z.input<typeof Config>): Config => Config.parse(part);

/** Sends JSON. */
export const sendJson = (
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};

/** What something failed with. */
export async function failureOf(work: Promise<unknown>): Promise<StepError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StepError) return error;
  throw new Error("it did not fail with a StepError", { cause: error });
}
