/** What every MCP leg does with a request before the SDK sees it. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { isJsonContentType, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { exceedsDepth } from "../../../schemas/text.ts";
import { AppError } from "../../core/errors.ts";

/** As large as a message may be, in bytes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
/** What begins a session is kept as long as the session, so it must be small. */
const INITIALIZE_LIMIT = 16 * 1024;
/** Room for the deepest value that an operation takes; what is deeper would overflow the stack of who walks it. */
const MAX_DEPTH = 200;

/**
 * Refuses requests that a web page made without being asked to: a foreign `Origin`, or a `Host` that is a name we do
 * not go by (DNS rebinding). Literal addresses are no names, so nobody can rebind them.
 * @param hostnames the names that this server goes by, IPv6 in brackets
 * @throws AppError forbidden_origin
 */
export function checkOrigin(req: IncomingMessage, hostnames: readonly string[]): void {
  const host = req.headers.host;
  const bare = host?.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1") ?? "";
  if (isIP(bare) === 0 && !validateHostHeader(host, [...hostnames]).ok) {
    throw new AppError(
      "forbidden_origin",
      `This server does not go by the name in the Host header (${(host ?? "none").slice(0, 100)}). ` +
        "If it should, set MILLRACE_BASE_URL to the URL people use.",
    );
  }
  if (!validateOriginHeader(req.headers.origin, [...hostnames]).ok) {
    throw new AppError(
      "forbidden_origin",
      "Web pages of other origins may not call this server. Call it from a program, or set MILLRACE_BASE_URL to your own origin.",
    );
  }
}

/**
 * Reads the one JSON-RPC message of a body; whether it is one is the SDK's to say.
 * @throws AppError unsupported_media_type, payload_too_large, invalid_json, invalid_request
 */
export async function readMessage(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req);
  const message = parse(body);
  if (Array.isArray(message)) {
    throw new AppError(
      "invalid_request",
      "Batches are not taken. Send each message in a request of its own.",
    );
  }
  if (exceedsDepth(message, MAX_DEPTH)) {
    throw new AppError("invalid_request", `The message is nested deeper than ${MAX_DEPTH} levels.`);
  }
  if (body.byteLength > INITIALIZE_LIMIT && methodOf(message) === "initialize") {
    throw new AppError(
      "payload_too_large",
      `An initialize request may have ${INITIALIZE_LIMIT / 1024} KiB. Say less about the client.`,
    );
  }
  return message;
}

export const methodOf = (message: unknown): unknown =>
  (message as { method?: unknown } | null | undefined)?.method;

async function readBody(req: IncomingMessage): Promise<Buffer> {
  if (!isJsonContentType(req.headers["content-type"] ?? null)) {
    throw new AppError(
      "unsupported_media_type",
      "The body must be JSON. Send it with Content-Type: application/json.",
    );
  }
  if ((req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    throw new AppError("unsupported_media_type", "Send the body as it is, without Content-Encoding.");
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > MAX_MESSAGE_BYTES) {
        throw new AppError(
          "payload_too_large",
          `The message is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB. Send less.`,
        );
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_request", "The body broke off.", { cause: error });
  }
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  // A decoder that replaced wrong bytes would have the replacements stored.
  if (!isUtf8(body)) {
    throw new AppError("invalid_json", "The body is not valid UTF-8. Send JSON encoded as UTF-8.");
  }
  try {
    return JSON.parse(new TextDecoder().decode(body)) as unknown;
  } catch (error) {
    throw new AppError("invalid_json", `The body is not valid JSON: ${(error as Error).message}`);
  }
}

/**
 * The request as the SDK wants it: without a body, which it is given parsed, and without the key.
 * @param signal aborted when the client has gone
 */
export function toWebRequest(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string" && (READ_BY_SDK.has(name) || name.startsWith("mcp-")))
      headers.set(name, value);
  }
  return new Request("http://localhost/mcp", { method: req.method ?? "", headers, signal });
}

const READ_BY_SDK = new Set(["accept", "content-type", "last-event-id", "user-agent"]);

export const isEventStream = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;

/** Writes a web response to Node's: streams event by event, waiting for slow readers, anything else in one go. */
export async function sendWebResponse(response: Response, res: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  // Whether the connection stays open is the listener's to say: it closes while it drains.
  delete headers["connection"];
  if (response.body === null || !isEventStream(response)) {
    const body = await response.text();
    res.writeHead(response.status, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
    return;
  }
  res.writeHead(response.status, headers).flushHeaders();
  const reader = response.body.getReader();
  res.once("close", () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // Its reader has gone, or its key has died.
    if (res.destroyed || res.writableEnded) return reader.cancel();
    if (!res.write(value)) await Promise.race([drained(res), closed(res)]);
  }
  res.end();
}

const drained = (res: ServerResponse): Promise<void> => new Promise((resolve) => res.once("drain", resolve));
const closed = (res: ServerResponse): Promise<void> => new Promise((resolve) => res.once("close", resolve));
