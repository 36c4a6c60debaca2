/** Reads requests and writes responses, for every MCP transport. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { isJsonContentType } from "@modelcontextprotocol/server";
import { Origin } from "../../../schemas/oauth-config.ts";
import type { Issue } from "../../../schemas/problem.ts";
import { jsonEncodingOf, otherJsonCharset } from "../../core/charset.ts";
import { AppError } from "../../core/errors.ts";
import { parseHost } from "../../core/hosts.ts";
import { formatPath } from "../../core/issues.ts";
import { assertRequestDepth } from "../../core/json-nesting.ts";
import { nextTurnIfLarge } from "../../core/next-turn.ts";
import { type JsonLoss, scanJson } from "../../core/json-scan.ts";
import { describeLoss } from "../../core/json-text.ts";
import { isAllowedOrigin, type OriginRules } from "../cross-origin.ts";
import { withoutNulls } from "./request-params.ts";

/** Maximum size of a message, in bytes. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Maximum size of an initialize request, in bytes, because it is stored as long as its session. */
const MAX_INITIALIZE_BYTES = 16 * 1024;

/**
 * Refuses requests of foreign web pages: another `Origin`, or a `Host` name that is not ours (DNS rebinding). IP addresses
 * are accepted as Host, because they can't be rebound.
 * @throws AppError forbidden_origin
 */
export function checkOrigin(req: IncomingMessage, rules: OriginRules): void {
  const { host = "", origin } = req.headers;
  const named = parseHost(host)?.hostname;
  if (named === undefined || (isIP(named) === 0 && !rules.hostnames.includes(named))) {
    throw new AppError(
      "forbidden_origin",
      `The Host header (${host.slice(0, 100) || "none"}) is not a name of this server. ` +
        "If it should be, set MILLRACE_BASE_URL to the public URL.",
    );
  }
  if (origin !== undefined && !isAllowedOrigin(origin, rules)) {
    throw new AppError(
      "forbidden_origin",
      `The Origin header (${origin.slice(0, 100)}) is that of a page which may not call this server. ${originAdvice(origin)}`,
    );
  }
}

/** @param origin the value of the header; `null` for pages that have none */
const originAdvice = (origin: string): string =>
  Origin.safeParse(origin).success
    ? "Call it from a program, set MILLRACE_BASE_URL to your own origin, or add this one to authentication.oauth.origins in the " +
      "configuration."
    : "It is no origin that could be allowed, such as that of a local file or a sandboxed frame. Open the page from a web server, or " +
      "call from a program.";

interface ReadMessage {
  /** Its parameters, or its result, with long numbers as text. */
  message: unknown;
  /** Issues of the arguments of a call: values that `message` does not hold as they are written. */
  argumentIssues: Issue[];
}

export interface ReceivedMessage extends ReadMessage {
  /** The body as it was sent. */
  text: string;
}

/**
 * Reads the JSON message of a body. The SDK checks whether it is a JSON-RPC message.
 * @throws AppError unsupported_media_type, payload_too_large, invalid_json, invalid_request, invalid_input
 */
export async function readMessage(req: IncomingMessage): Promise<ReceivedMessage> {
  const body = await readBody(req);
  const text = decode(body);
  await nextTurnIfLarge(text.length);
  assertRequestDepth(body);
  const parsed = parse(text);
  if (Array.isArray(parsed)) {
    throw new AppError(
      "invalid_request",
      "Batches are not supported. Send each message in a request of its own.",
    );
  }
  if (body.byteLength > MAX_INITIALIZE_BYTES && methodOf(parsed) === "initialize") {
    throw new AppError(
      "payload_too_large",
      `The initialize request is larger than ${MAX_INITIALIZE_BYTES / 1024} KiB. Send less client information.`,
    );
  }
  await nextTurnIfLarge(text.length);
  const { exact, argumentIssues } = scanMessage(text, parsed);
  await nextTurnIfLarge(text.length);
  const message = withoutNulls(exact === text ? parsed : parse(exact));
  assertEchoes(parsed, message);
  return { message, text, argumentIssues };
}

/** Reads a message that was received before. @throws AppError invalid_json, invalid_request */
export function readMessageText(text: string): ReadMessage {
  const parsed = parse(text);
  const { exact, argumentIssues } = scanMessage(text, parsed);
  return { message: withoutNulls(exact === text ? parsed : parse(exact)), argumentIssues };
}

/**
 * Finds the long numbers of a message, and what no value can hold in the arguments of a call, with paths below them.
 * @throws AppError invalid_request for a key that occurs twice anywhere else: proxies may have checked the other value
 */
function scanMessage(text: string, message: unknown): { exact: string; argumentIssues: Issue[] } {
  const { losses, exact } = scanJson(text, {
    keys: true,
    isRead: ({ 0: part, length }) => length === 1 || part === "params" || part === "result" || part === "id",
  });
  const method = methodOf(message);
  // A call that is resumed has no method.
  const isCall = method === undefined || method === "tools/call";
  const isArgument = ({ path: [params, args, ...inside] }: JsonLoss): boolean =>
    isCall && params === "params" && args === "arguments" && inside.length > 0;
  for (const loss of losses) if (loss.kind === "duplicate_key" && !isArgument(loss)) throw givenTwice(loss);
  return { exact, argumentIssues: losses.filter(isArgument).map(argumentIssue) };
}

const argumentIssue = ({ path, ...loss }: JsonLoss): Issue => ({
  path: formatPath(path.slice(2)),
  ...describeLoss(loss),
});

function givenTwice(loss: JsonLoss): AppError {
  const { message, fix } = describeLoss(loss);
  return new AppError("invalid_request", `${formatPath(loss.path)} ${message}. ${fix}`);
}

/** The places of the numbers that we send back, or compare with an id, and that clients compare with theirs. */
const ECHOED: readonly (readonly string[])[] = [
  ["id"],
  ["params", "_meta", "progressToken"],
  ["params", "progressToken"],
  ["params", "requestId"],
];

/**
 * Refuses numbers that would come back as others: the client would not find its answer.
 * @param exact the message with long numbers as text
 * @throws AppError invalid_request
 */
function assertEchoes(parsed: unknown, exact: unknown): void {
  for (const path of ECHOED) {
    const number = valueAt(parsed, path);
    if (typeof number !== "number") continue;
    const written = valueAt(exact, path);
    if (typeof written === "number" && Number.isFinite(written)) continue;
    throw new AppError(
      "invalid_request",
      `${path.join(".")} must be text or an integer up to ${Number.MAX_SAFE_INTEGER}, got ${String(written).slice(0, MAX_SHOWN_DIGITS)}. ` +
        "Send it as text.",
    );
  }
}

/** Maximum number of digits that a message shows. */
const MAX_SHOWN_DIGITS = 60;

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, part) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[part],
    value,
  );

export const methodOf = (message: unknown): unknown =>
  (message as { method?: unknown } | null | undefined)?.method;

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const contentType = req.headers["content-type"];
  if (!isJsonContentType(contentType ?? null)) {
    throw new AppError(
      "unsupported_media_type",
      "The body must be JSON. Send it with Content-Type: application/json.",
    );
  }
  if (jsonEncodingOf(contentType) !== "utf-8")
    throw new AppError("unsupported_media_type", otherJsonCharset(contentType));
  if ((req.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") {
    throw new AppError(
      "unsupported_media_type",
      "The body must not be compressed. Send it without Content-Encoding.",
    );
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
    throw new AppError("invalid_request", "The body is incomplete. Send it again.", { cause: error });
  }
  return Buffer.concat(chunks);
}

function decode(body: Buffer): string {
  // The decoder would replace invalid bytes, and the replacement characters would be stored.
  if (!isUtf8(body)) {
    throw new AppError("invalid_json", "The body is not valid UTF-8. Send JSON encoded as UTF-8.");
  }
  return new TextDecoder().decode(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new AppError("invalid_json", `The body is not valid JSON: ${(error as Error).message}`);
  }
}

/**
 * Converts a request for the SDK: without the body, which is passed parsed, and without the key.
 * @param signal aborted when the client has gone
 */
export function toWebRequest(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value === "string" && (READ_BY_SDK.has(name) || name.startsWith("mcp-")))
      headers.set(name, value);
  }
  // The SDK wants both types by name; `accept.ts` has decided what the client gets.
  headers.set("accept", "application/json, text/event-stream");
  return new Request("http://localhost/mcp", { method: req.method ?? "", headers, signal });
}

/** The headers that the SDK reads, besides those of MCP. */
const READ_BY_SDK = new Set(["content-type", "last-event-id", "user-agent"]);

export const isEventStream = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;

/**
 * Writes a web response to Node's: event streams chunk by chunk, at the pace of the client, others at once.
 * @param frame events to write before and after those of an event stream
 */
export async function sendWebResponse(
  response: Response,
  res: ServerResponse,
  frame?: { before: string; after: string },
): Promise<void> {
  const headers = Object.fromEntries(response.headers);
  // The listener decides whether the connection stays open, because it closes connections while it drains.
  delete headers["connection"];
  if (response.body === null || !isEventStream(response)) {
    const body = await response.text();
    res.writeHead(response.status, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
    return;
  }
  res.writeHead(response.status, headers).flushHeaders();
  if (frame !== undefined) res.write(frame.before);
  const reader = response.body.getReader();
  res.once("close", () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // The client has gone, or its key is no longer valid.
    if (res.destroyed || res.writableEnded) return reader.cancel();
    if (!res.write(value)) await Promise.race([drained(res), closed(res)]);
  }
  res.end(frame?.after);
}

const drained = (res: ServerResponse): Promise<void> => new Promise((resolve) => res.once("drain", resolve));
const closed = (res: ServerResponse): Promise<void> => new Promise((resolve) => res.once("close", resolve));
