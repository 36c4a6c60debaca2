/** One open connection to an MCP server. */
import { Client, ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import { outputTooLarge, mcpStepError, serverUnavailable } from "./errors.ts";
import type { Environment, ServerConfig } from "./server-config.ts";
import { transportCandidates, type TransportHandle } from "./transports.ts";

/** The largest answer of a server, in bytes. */
const MAX_ANSWER = 4 * 1024 ** 2;
/** More pages of tools than this is a server that never ends. */
const MAX_PAGES = 20;

export interface Connection {
  client: Client;
  /** Aborted with a StepError when it is of no more use. */
  brokenSignal: AbortSignal;
  stderrTail(): string;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  version: string;
  connectTimeoutMs: number;
  /** Keeps what the server was handed out of what it says. */
  mask: Masker;
  /** Called when the server says that its tools have changed. */
  onToolsChanged(): void;
  /** Ends an attempt to connect. */
  signal: AbortSignal;
}

/**
 * Opens a connection: over stdio as servers of 2025 expect it, else (and over HTTP at once) as the two agree; an URL
 * that does not know Streamable HTTP is tried over SSE.
 * @throws StepError tool_unavailable, environment
 */
export async function connect(
  server: ServerConfig,
  env: Environment,
  options: ConnectionOptions,
): Promise<Connection> {
  const [first, second] = transportCandidates(server, { env, mask: options.mask, maxBytes: MAX_ANSWER });
  const isChild = server.command !== undefined;
  try {
    return await open(server, first!, isChild ? "legacy" : "auto", options);
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    const other = isChild
      ? cause instanceof ProtocolError && { make: first!, mode: "auto" as const }
      : isUnknownThere(cause) && { make: second!, mode: "legacy" as const };
    if (other === false) throw error;
    // What the first way said is nearer to what is configured.
    return await open(server, other.make, other.mode, options).catch(() => Promise.reject(error));
  }
}

const isUnknownThere = (cause: unknown): boolean =>
  cause instanceof SdkHttpError && [400, 404, 405].includes(cause.status ?? 0);

async function open(
  server: ServerConfig,
  make: (onLost: (error: StepError) => void) => TransportHandle,
  mode: "legacy" | "auto",
  { version, connectTimeoutMs, mask, onToolsChanged, signal }: ConnectionOptions,
): Promise<Connection> {
  const broken = new AbortController();
  const way = make((error) => broken.abort(error));
  const client = new Client(
    { name: "millrace", version },
    {
      // None: what a server asks of its client in the middle of a call is declined.
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode, probe: { timeoutMs: connectTimeoutMs } },
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
    },
  );
  client.onerror = (error) => {
    if (error.message.startsWith("ReadBuffer exceeded"))
      broken.abort(outputTooLarge(server.name, MAX_ANSWER));
  };
  client.onclose = () =>
    broken.abort(
      serverUnavailable(server.name, `ended${way.stderrTail() && `; it wrote: ${way.stderrTail()}`}`),
    );
  const close = async (): Promise<void> => {
    await way.close();
    await client.close();
  };
  try {
    await client.connect(way.transport, {
      timeout: connectTimeoutMs,
      signal: AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]),
    });
  } catch (error) {
    await close().catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    const cause = error instanceof DOMException && error.name === "TimeoutError" ? timedOut(server) : error;
    const failure = mcpStepError({ server: server.name, mask }, undefined, cause, way.stderrTail());
    throw new StepError(failure.code, failure.message, { ...failure.options, cause });
  }
  return { client, brokenSignal: broken.signal, stderrTail: way.stderrTail, close };
}

const timedOut = (server: ServerConfig): StepError =>
  serverUnavailable(server.name, "did not answer in time");
