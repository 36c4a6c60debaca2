/** A low-level HTTP client that can send any Host and read streams as they arrive, which `fetch` can't. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { onTestFinished } from "vitest";
import type { Json } from "./json.ts";
import { eventually } from "./eventually.ts";

interface RawRequest {
  headers?: Record<string, string | string[]>;
  body?: unknown;
}

export interface RawResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON: itself, or the data of its last event with data. */
  json(): Json;
}

function send(method: string, url: string, { headers = {}, body }: RawRequest): Promise<IncomingMessage> {
  const bytes =
    body === undefined
      ? undefined
      : typeof body === "string" || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body);
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

/** Sends a request and reads the whole response. */
export async function rawRequest(
  method: string,
  url: string,
  options: RawRequest = {},
): Promise<RawResponse> {
  const res = await send(method, url, options);
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) text += chunk as string;
  return {
    status: res.statusCode!,
    headers: res.headers,
    text,
    json: () => JSON.parse(/^data: (.*)$/m.exec(text) ? lastData(text) : text),
  };
}

const lastData = (text: string): string => [...text.matchAll(/^data: (.+)$/gm)].at(-1)![1]!;

/** A stream of events that is read as it arrives. */
export interface EventStream {
  status: number;
  headers: IncomingHttpHeaders;
  /** The text received so far. */
  text(): string;
  /** Waits for the first match of `pattern`. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Whether the server has ended it. */
  ended(): boolean;
  /** Stops reading, like a client that hangs. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream. */
export async function openEventStream(
  method: string,
  url: string,
  options: RawRequest = {},
): Promise<EventStream> {
  const res = await send(method, url, options);
  let text = "";
  let ended = false;
  res.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  res.on("error", () => {});
  res.once("close", () => (ended = true));
  onTestFinished(() => void res.destroy());
  return {
    status: res.statusCode!,
    headers: res.headers,
    text: () => text,
    waitFor: (pattern) => eventually(() => pattern.exec(text) ?? undefined, String(pattern)),
    ended: () => ended,
    pause: () => void res.pause(),
    resume: () => void res.resume(),
    close: () => void res.destroy(),
  };
}
