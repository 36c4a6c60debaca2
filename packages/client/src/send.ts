/** Sends one request: its URL, its headers, its retries and its answer. */
import { errorOf, MillraceError, redirected, unreachable, unreadable } from "./error.ts";
import type { ApiResponse, Method, UntypedOptions } from "./types.ts";

export interface ClientOptions {
  /** URL of the server, such as `https://millrace.example.com`. In a browser it can be left out: the origin of the page. */
  url?: string | undefined;
  /** The API key. A browser that is signed in needs none. */
  key?: string | undefined;
  /** Name of the program, which the audit log records. Browsers send their own. */
  userAgent?: string | undefined;
  /**
   * How often a request is repeated that the server could not answer (no connection, status 429 or 503). Only requests are
   * repeated that change nothing, or that have an idempotency key. Default: 2.
   */
  retries?: number | undefined;
  /** Sends the requests, instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** The pause before the first repetition, in milliseconds. It doubles. */
const RETRY_MS = 200;
/** The longest `Retry-After` that is waited for, in seconds. */
const MAX_RETRY_AFTER = 10;

/** @throws MillraceError */
export async function fetchResponse(
  client: ClientOptions,
  method: Method,
  path: string,
  { path: parameters, query, header, body, idempotencyKey, signal }: UntypedOptions,
): Promise<Response> {
  const headers = {
    Accept: "application/json",
    ...(client.key !== undefined && { "X-API-Key": client.key }),
    ...(client.userAgent !== undefined && { "User-Agent": client.userAgent }),
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
    ...header,
  };
  const url = urlOf(client.url, path, parameters) + queryString(query);
  const repeatable = method === "get" || "Idempotency-Key" in headers;
  for (let retries = repeatable ? (client.retries ?? 2) : 0, pause = RETRY_MS; ; retries -= 1, pause *= 2) {
    try {
      return await fetchOnce(client, url, {
        method: method.toUpperCase(),
        headers,
        // A redirect would send the key to another host.
        redirect: client.key === undefined ? "follow" : "manual",
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (error) {
      const wait = retries > 0 ? pauseAfter(error, pause) : undefined;
      if (wait === undefined) throw error;
      await pauseFor(wait, signal);
    }
  }
}

/** @throws MillraceError; the reason of the signal when it is aborted */
async function fetchOnce(
  { fetch: send = globalThis.fetch }: ClientOptions,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const response = await send(url, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw unreachable(error);
  });
  if (response.ok) return response;
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400))
    throw redirected(response.status, response.headers.get("Location"));
  throw await errorOf(response);
}

/** How long to wait before a request is repeated, in milliseconds; undefined if it must not be. */
function pauseAfter(error: unknown, pause: number): number | undefined {
  if (!(error instanceof MillraceError)) return undefined;
  if (error.code === "unreachable") return pause;
  if (error.status !== 429 && error.status !== 503) return undefined;
  const seconds = error.retryAfter ?? 0;
  return seconds > MAX_RETRY_AFTER ? undefined : Math.max(pause, seconds * 1_000);
}

/** @throws the reason of the signal when it is aborted */
export async function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Reads a successful response: JSON, or lines of JSON as a list. @throws MillraceError when it is something else */
export async function readResponse<T>(response: Response): Promise<ApiResponse<T>> {
  const { headers } = response;
  const total = headers.get("X-Total-Count");
  // A 202 may have an empty body, and a 204 always has.
  const text = await response.text().catch((error: unknown) => {
    // The connection was lost after the headers.
    throw error instanceof TypeError ? unreachable(error) : error;
  });
  return {
    data: parseBody(response, text) as T,
    etag: headers.get("ETag"),
    total: total === null ? null : Number(total),
    isTotalCapped: headers.get("X-Total-Count-Capped") === "true",
    next: nextCursor(headers.get("Link")),
  };
}

function parseBody({ headers, status }: Response, text: string): unknown {
  const isLines = headers.get("Content-Type")?.includes("ndjson") === true;
  try {
    if (!isLines) return text === "" ? undefined : (JSON.parse(text) as unknown);
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as unknown);
  } catch {
    throw unreadable(status);
  }
}

function urlOf(server = "", path: string, parameters: Readonly<Record<string, unknown>> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  );
  return server.replace(/\/+$/, "") + filled;
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Encodes lists as one comma-separated value, as the OpenAPI document says. */
function queryString(query: Readonly<Record<string, unknown>> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, QueryValue>))
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

const nextCursor = (link: string | null): string | null => {
  const next = /<([^>]+)>; rel="next"/.exec(link ?? "")?.[1];
  return next === undefined ? null : new URL(next, "http://localhost").searchParams.get("cursor");
};
