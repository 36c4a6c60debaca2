/**
 * Writes the long numbers in the results of tools as text, before the SDK parses the messages: its parser would round them. The rest of
 * a message stays as it is, because the protocol defines what it contains.
 */
import type { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { exactJsonText, JsonLossError } from "../../core/json-text.ts";

const LINE_FEED = 0x0a;
const BLANK_LINE = /(\r?\n\r?\n|\r\r)/;
/** Maximum length of a blank line with the line end before it, in characters. */
const BLANK_LINE_CHARS = 4;

/** Whether a path of a message, or of one in a batch, is inside the structured content of a result. */
const isStructuredContent = (path: readonly PropertyKey[]): boolean => {
  const [result, content] = typeof path[0] === "number" ? path.slice(1) : path;
  return result === "result" && content === "structuredContent";
};

/** @param text a message; what no value can hold as it is written makes it an error of the protocol */
function exactMessage(text: string): string {
  try {
    return exactJsonText(text, isStructuredContent);
  } catch (error) {
    if (!(error instanceof JsonLossError)) throw error;
    const { id = null } = JSON.parse(text) as { id?: unknown };
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: error.message } });
  }
}

/** Returns a response of a server with exact messages. */
export function exactResponse(response: Response): Response {
  const type = response.headers.get("content-type") ?? "";
  const { status, statusText, headers, body } = response;
  if (body === null) return response;
  const exact = type.startsWith("text/event-stream") ? exactEvents() : exactBody();
  const text = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(exact)
    .pipeThrough(new TextEncoderStream());
  return new Response(text, { status, statusText, headers });
}

function exactBody(): TransformStream<string, string> {
  let text = "";
  return new TransformStream({
    transform(chunk) {
      text += chunk;
    },
    flush(controller) {
      if (text !== "") controller.enqueue(exactMessage(text));
    },
  });
}

function exactEvents(): TransformStream<string, string> {
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
        controller.enqueue(index % 2 === 0 ? exactEvent(part) : part);
    },
    flush(controller) {
      const rest = chunks.join("");
      if (rest !== "") controller.enqueue(rest);
    },
  });
}

/** @param event without the blank line after it. The data of several lines are one message. */
function exactEvent(event: string): string {
  const lines = event.split(/(\r\n|\n|\r)/);
  const data = lines.flatMap((line) => DATA.exec(line)?.[1] ?? []);
  const message = data.join("\n");
  const exact = exactMessage(message);
  if (exact === message) return event;
  const exactLines = exact.split("\n").values();
  return lines.map((line) => (DATA.test(line) ? `data: ${exactLines.next().value ?? ""}` : line)).join("");
}

const DATA = /^data: ?(.*)$/s;

/** Where the SDK's transport collects what a child process writes. */
interface LineBuffer {
  append(chunk: Buffer): void;
}

/**
 * Makes a transport read exact messages: the SDK has no place for that, so its buffer gets whole lines.
 * @param maxBytes maximum size of a line, which the buffer refuses beyond that
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
    if (end === -1 && size <= maxBytes) return;
    const all = Buffer.concat(held);
    const lines = end === -1 ? all : all.subarray(0, size - chunk.byteLength + end + 1);
    const rest = all.subarray(lines.byteLength);
    held = rest.byteLength === 0 ? [] : [rest];
    size = rest.byteLength;
    append(end === -1 ? lines : Buffer.from(lines.toString("utf8").split("\n").map(exactMessage).join("\n")));
  };
}
