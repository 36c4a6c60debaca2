/**
 * Reads the messages of servers before the SDK parses them. The long numbers in the results of tools become text, because its parser
 * would round them, and messages get the form that it accepts (`repair-message.ts`).
 */
import type { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isNestedDeeper, MAX_REQUEST_DEPTH } from "../../core/json-nesting.ts";
import { exactJsonText, JsonLossError } from "../../core/json-text.ts";
import { containsLongNumber } from "../../core/json-schema/index.ts";
import { describeText } from "../failure-text.ts";
import { nearestDoubles } from "./exact-values.ts";
import { notAMessage, repairMessage, type RequestId } from "./repair-message.ts";
import { isObject } from "./repair-tools.ts";

const LINE_FEED = 0x0a;
const BLANK_LINE = /(\r?\n\r?\n|\r\r)/;
/** Maximum length of a blank line with the line end before it, in characters. */
const BLANK_LINE_CHARS = 4;

/** Whether a path of a message, or of one in a batch, is inside the structured content of a result. */
const isStructuredContent = (path: readonly PropertyKey[]): boolean => {
  const [result, content] = typeof path[0] === "number" ? path.slice(1) : path;
  return result === "result" && content === "structuredContent";
};

/** Where a message comes from. */
interface Origin {
  /** The request that is answered with it; undefined if the transport does not show that. */
  requestId?: RequestId | undefined;
  /** Whether nothing else answers the request. */
  isOnly?: boolean;
}

/** @param text a message; what no value can hold as it is written makes it an error of the protocol */
function readableMessage(text: string, { requestId, isOnly = false }: Origin): string {
  const parsed = parse(text);
  if (parsed === undefined || (!isObject(parsed) && !Array.isArray(parsed)))
    return isOnly && requestId !== undefined
      ? JSON.stringify(notAMessage(requestId, describeText(text)))
      : text;
  let exact: string;
  try {
    exact = exactJsonText(text, isStructuredContent);
  } catch (error) {
    if (!(error instanceof JsonLossError)) throw error;
    const { id = requestId ?? null } = parsed as { id?: unknown };
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: error.message } });
  }
  // A result that is nested deeper is refused anyway.
  if (isNestedDeeper(text, MAX_REQUEST_DEPTH)) return exact;
  const value = exact === text ? parsed : (JSON.parse(exact) as unknown);
  return JSON.stringify(
    Array.isArray(value)
      ? value.map((message: unknown, index) => repaired(message, (parsed as unknown[])[index], undefined))
      : repaired(value, parsed, requestId),
  );
}

/** @param original the message with rounded numbers */
const repaired = (message: unknown, original: unknown, id: RequestId | undefined): unknown =>
  isObject(message) ? repairMessage(message, id, roundedContent(original)) : message;

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The structured content with rounded numbers, if it also has texts that resemble long numbers: these must stay text. */
function roundedContent(message: unknown): unknown {
  const { result } = message as { result?: unknown };
  const content = isObject(result) ? result["structuredContent"] : undefined;
  return containsLongNumber(content) ? nearestDoubles(content) : undefined;
}

/**
 * Returns a response of a server with exact messages.
 * @param requestId the request that it answers; undefined for a notification, and for a stream that answers several
 */
export function exactResponse(response: Response, requestId?: RequestId): Response {
  const type = response.headers.get("content-type") ?? "";
  const { status, statusText, headers, body } = response;
  if (body === null) return response;
  const exact = type.startsWith("text/event-stream") ? exactEvents(requestId) : exactBody(requestId);
  const text = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(exact)
    .pipeThrough(new TextEncoderStream());
  return new Response(text, { status, statusText, headers });
}

function exactBody(requestId: RequestId | undefined): TransformStream<string, string> {
  let text = "";
  return new TransformStream({
    transform(chunk) {
      text += chunk;
    },
    flush(controller) {
      const message =
        text === "" && requestId === undefined ? "" : readableMessage(text, { requestId, isOnly: true });
      if (message !== "") controller.enqueue(message);
    },
  });
}

function exactEvents(requestId: RequestId | undefined): TransformStream<string, string> {
  /** The chunks since the last blank line. They are joined once: an event may come in very many. */
  let chunks: string[] = [];
  /** Their end, which may be the beginning of a blank line. */
  let end = "";
  const hold = (chunk: string): void => {
    chunks.push(chunk);
    end = (end + chunk).slice(-BLANK_LINE_CHARS);
  };
  return new TransformStream({
    transform(chunk, controller) {
      const isComplete = BLANK_LINE.test(end + chunk);
      hold(chunk);
      if (!isComplete) return;
      const parts = chunks.join("").split(BLANK_LINE);
      chunks = [];
      end = "";
      hold(parts.pop() ?? "");
      for (const [index, part] of parts.entries())
        controller.enqueue(index % 2 === 0 ? exactEvent(part, requestId) : "\n\n");
    },
    flush(controller) {
      const rest = chunks.join("");
      if (rest !== "") controller.enqueue(rest);
    },
  });
}

/**
 * Returns an event with line feeds as its line ends: the SDK takes a carriage return at the end of a chunk for half of a line end.
 * @param event without the blank line after it. The data of several lines are one message.
 */
function exactEvent(event: string, requestId: RequestId | undefined): string {
  const lines = event.split(/\r\n|\n|\r/);
  const message = lines.flatMap((line) => DATA.exec(line)?.[1] ?? []).join("\n");
  const exact = readableMessage(message, { requestId });
  if (exact === message) return lines.join("\n");
  const exactLines = exact.split("\n").values();
  return lines.map((line) => (DATA.test(line) ? `data: ${exactLines.next().value ?? ""}` : line)).join("\n");
}

const DATA = /^data: ?(.*)$/s;

/** Where the SDK's transport collects what a child process writes. */
interface LineBuffer {
  append(chunk: Buffer): void;
}

/**
 * Makes a transport read exact messages: the SDK has no place for that, so its buffer gets whole lines.
 * @param maxBytes maximum size of a line
 */
export function readExactLines(transport: StdioClientTransport, maxBytes: number): void {
  const buffer = (transport as unknown as { _readBuffer: LineBuffer })._readBuffer;
  const append = buffer.append.bind(buffer);
  let held: Buffer[] = [];
  let size = 0;
  buffer.append = (chunk) => {
    held.push(chunk);
    size += chunk.byteLength;
    const end = chunk.lastIndexOf(LINE_FEED);
    // As the SDK's buffer says it: that one also holds what is added to messages here.
    if (end === -1 && size > maxBytes)
      throw new Error(`ReadBuffer exceeded maximum size of ${maxBytes} bytes`);
    if (end === -1) return;
    const all = Buffer.concat(held);
    const lines = all.subarray(0, size - chunk.byteLength + end + 1);
    const rest = all.subarray(lines.byteLength);
    held = rest.byteLength === 0 ? [] : [rest];
    size = rest.byteLength;
    const messages = lines.toString("utf8").split("\n");
    append(Buffer.from(messages.map((line) => readableMessage(line, {})).join("\n")));
  };
}
