/** A client of http steps that may call loopback. */
import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { createHttpClient } from "../../src/connections/http/index.ts";
import type { HttpRequest, HttpResponse } from "../../src/core/connections.ts";
import { fixedSecrets } from "../../src/core/secret-source.ts";
import { callOf } from "./call-context.ts";
import { mockHttpServer, parseConfig } from "./mock-http-server.ts";

/** Returns the client's result for a server's response. */
export async function responseFrom(
  write: (response: ServerResponse) => void,
  request: Partial<HttpRequest> = {},
): Promise<HttpResponse> {
  const client = createHttpClient(parseConfig({ http: { allowed_hosts: ["127.0.0.1"] } }), fixedSecrets({}));
  onTestFinished(() => client.close());
  const peer = await mockHttpServer((_request, response) => write(response));
  return client.send({ method: "GET", url: peer.url, headers: {}, maxBytes: 10_000, ...request }, callOf());
}

/** Returns the client's result for a response with this body. */
export const bodyFrom = async (
  headers: Record<string, string>,
  body: string | Uint8Array,
  request: Partial<HttpRequest> = {},
  status = 200,
): Promise<unknown> => {
  const answer = await responseFrom((response) => {
    response.writeHead(status, headers);
    response.end(body);
  }, request);
  return answer.body;
};
