/** HTTPS requests on separate connections, and streams that are read as they arrive. */
import { request } from "node:https";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { onTestFinished } from "vitest";
import { eventually } from "./eventually.ts";

interface SecureRequest {
  headers?: Record<string, string>;
  body?: unknown;
}

export interface HttpsResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

function open(method: string, url: string, { headers, body }: SecureRequest): Promise<IncomingMessage> {
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = request(
      url,
      {
        method,
        agent: false,
        headers: {
          ...(bytes !== undefined && {
            "Content-Type": "application/json",
            "Content-Length": String(Buffer.byteLength(bytes)),
          }),
          ...headers,
        },
      },
      resolve,
    );
    req.once("error", reject);
    req.end(bytes);
  });
}

/** Sends a request and reads the whole response. @throws Error when the connection breaks */
export async function httpsRequest(
  method: string,
  url: string,
  options: SecureRequest = {},
): Promise<HttpsResponse> {
  const res = await open(method, url, options);
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) text += chunk as string;
  return { status: res.statusCode!, headers: res.headers, text };
}

/** A stream of server-sent events that is read as it arrives. */
export async function openHttpsEventStream(url: string, headers: Record<string, string>) {
  const res = await open("GET", url, { headers: { ...headers, Accept: "text/event-stream" } });
  if (res.statusCode !== 200) throw new Error(`${url} answered ${res.statusCode}`);
  let text = "";
  let ended = false;
  res.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  res.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    res.once("close", () => {
      ended = true;
      resolve();
    });
  });
  onTestFinished(() => void res.destroy());
  return {
    text: () => text,
    until: (pattern: RegExp) => eventually(() => pattern.exec(text) ?? undefined, String(pattern), 20_000),
    ended: () => ended,
    closed,
    close: () => void res.destroy(),
  };
}
