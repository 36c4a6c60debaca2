/**
 * The program inside the bundle for Claude Desktop: passes messages between its standard streams and an MCP server that speaks
 * Streamable HTTP. It runs on the user's machine with the Node of the host (18 or newer), so it uses no packages and no other
 * file.
 */
import { env, exit, stdin, stdout } from "node:process";

interface Message {
  id?: string | number;
  method?: string;
  result?: { protocolVersion?: string };
}

/** Delay before the stream for notifications is opened again, in milliseconds. */
const RECONNECT_MS = 5_000;

const url = env["MILLRACE_MCP_URL"] ?? "";
const key = env["MILLRACE_API_KEY"] ?? "";
const closing = new AbortController();

let sessionId: string | undefined;
let protocolVersion: string | undefined;
/** The client's request that began the session. */
let initialize: Message | undefined;

const write = (message: object): void => void stdout.write(`${JSON.stringify(message)}\n`);

function headersFor(accept: string): Record<string, string> {
  return {
    "Content-Type": "application/json",
    Accept: accept,
    "X-API-Key": key,
    ...(sessionId !== undefined && { "Mcp-Session-Id": sessionId }),
    ...(protocolVersion !== undefined && { "MCP-Protocol-Version": protocolVersion }),
  };
}

/** @param message as it was received: parsed and written again, long numbers would lose digits */
const post = (message: string): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: headersFor("application/json, text/event-stream"),
    body: message,
    signal: closing.signal,
  });

/** The messages of a response: one, or those of an event stream as they arrive. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("text/event-stream")) {
    const text = await response.text();
    if (text !== "") yield JSON.parse(text) as Message;
    return;
  }
  const decoder = new TextDecoder();
  let received = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    received += decoder.decode(chunk, { stream: true });
    const events = received.split(/\r?\n\r?\n/);
    received = events.pop() ?? "";
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice("data:".length).trim())
        .join("\n");
      if (data !== "") yield JSON.parse(data) as Message;
    }
  }
}

/** Why a request was refused, as the server says it. */
async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { detail, error } = JSON.parse(text) as { detail?: string; error?: { message?: string } };
    return detail ?? error?.message ?? text;
  } catch {
    return text === "" ? `The server answered ${response.status}.` : text.slice(0, 500);
  }
}

/** Begins the session again when the server no longer knows it. */
async function restartSession(): Promise<void> {
  sessionId = undefined;
  protocolVersion = undefined;
  const response = await post(JSON.stringify({ ...initialize, id: "millrace-restart" }));
  for await (const message of messagesOf(response)) readSession(response, message);
  await post(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
}

function readSession(response: Response, { result }: Message): void {
  sessionId = response.headers.get("mcp-session-id") ?? undefined;
  protocolVersion = result?.protocolVersion;
}

/** @param line the message as it was received */
async function forward(message: Message, line: string): Promise<void> {
  if (message.method === "initialize") initialize = message;
  let response = await post(line);
  if (response.status === 404 && sessionId !== undefined) {
    await restartSession();
    response = await post(line);
  }
  if (!response.ok) throw new Error(await reasonOf(response));
  let isAnswered = false;
  for await (const received of messagesOf(response)) {
    if (message.method === "initialize" && received.id === message.id) readSession(response, received);
    isAnswered ||= received.id === message.id && received.method === undefined;
    write(received);
  }
  if (message.method === "notifications/initialized") void listen();
  if (message.method !== undefined && message.id !== undefined && !isAnswered)
    throw new Error(
      "The connection broke off before the answer. Ask for the state before you repeat the call.",
    );
}

/** Receives notifications, such as that the list of tools has changed, as long as the client runs. */
async function listen(): Promise<void> {
  while (!closing.signal.aborted) {
    try {
      const response = await fetch(url, { headers: headersFor("text/event-stream"), signal: closing.signal });
      if (response.status === 405) return;
      if (response.ok) for await (const message of messagesOf(response)) write(message);
    } catch {
      // The server is restarting, or the network is down: requests report it.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS).unref());
  }
}

/** @returns the message, or the error that JSON-RPC 2.0 (section 5.1) has for a line that is none */
function readMessage(line: string): Message | { code: number; message: string } {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    return { code: -32_600, message: "The line is not one message." };
  } catch {
    return { code: -32_700, message: "The line is not JSON." };
  }
}

async function handle(line: string): Promise<void> {
  const message = readMessage(line);
  if ("code" in message) return write({ jsonrpc: "2.0", id: null, error: message });
  try {
    await forward(message, line);
  } catch (error) {
    if (closing.signal.aborted || message.id === undefined || message.method === undefined) return;
    const { message: reason, cause } = error as Error & { cause?: { code?: string; message: string } };
    const text =
      cause === undefined ? reason : `Millrace can't be reached at ${url} (${cause.code ?? cause.message}).`;
    write({ jsonrpc: "2.0", id: message.id, error: { code: -32_000, message: text } });
  }
}

// Not by node:readline, for which U+2028 and U+2029 end a line, too.
let unfinished = "";
stdin.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (unfinished + chunk).split("\n");
  unfinished = lines.pop() ?? "";
  for (const line of lines) if (line.trim() !== "") void handle(line);
});
stdin.on("end", () => void close());

async function close(): Promise<void> {
  const ending =
    sessionId === undefined
      ? undefined
      : fetch(url, { method: "DELETE", headers: headersFor("application/json") }).catch(() => undefined);
  closing.abort();
  await ending;
  exit(0);
}
