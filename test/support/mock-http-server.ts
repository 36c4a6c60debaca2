/** A mock HTTP server on loopback. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { z } from "zod";
import { Config } from "../../schemas/config.ts";
import { StepError } from "../../src/core/step-errors.ts";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface MockHttpServer {
  /** `http://127.0.0.1:port` */
  url: string;
  /** `127.0.0.1:port` */
  host: string;
  port: number;
  received: ReceivedRequest[];
  /** The number of connections so far. */
  connectionCount(): number;
  /** Resolves when a whole request has arrived. */
  requestReceived: Promise<void>;
  /** Resolves when the client has closed a request's connection. */
  connectionClosed: Promise<void>;
}

/** Starts a server that is closed at the end of the test. */
export async function mockHttpServer(
  answer: (request: ReceivedRequest, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>,
): Promise<MockHttpServer> {
  const received: ReceivedRequest[] = [];
  let connections = 0;
  const called = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = createServer((raw, response) => {
    const parts: Buffer[] = [];
    response.on("close", () => closed.resolve());
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
    connectionCount: () => connections,
    requestReceived: called.promise,
    connectionClosed: closed.promise,
  };
}

/** Completes a partial configuration with defaults. */
export const parseConfig = (part: z.input<typeof Config>): Config => Config.parse(part);

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

/** The error of a promise that must fail. */
export async function stepErrorOf(work: Promise<unknown>): Promise<StepError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StepError) return error;
  throw new Error("it did not fail with a StepError", { cause: error });
}
