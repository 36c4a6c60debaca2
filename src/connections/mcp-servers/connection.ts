/** Opens a connection to an MCP server. */
import { Client, ProtocolError, SdkHttpError } from "@modelcontextprotocol/client";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import type { Masker } from "../masking.ts";
import { pendingRequest, type PendingRequest } from "./bounded-fetch.ts";
import { outputTooLarge, mcpStepError, serverUnavailable } from "./errors.ts";
import type { ServerConfig } from "./server-config.ts";
import { transportCandidates, type TransportHandle } from "./transports.ts";

/** Maximum size of a response, in bytes. */
const MAX_RESPONSE_BYTES = 4 * 1024 ** 2;

export interface Connection {
  client: Client;
  /** Aborted with a StepError when the connection can no longer be used. */
  brokenSignal: AbortSignal;
  stderrTail(): string;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  version: string;
  connectTimeoutMs: number;
  /** Removes secrets that the server was given from what it sends. */
  mask: Masker;
  proxies: OutgoingProxies;
  /** The current time in milliseconds. */
  now(): number;
  /** Called when the server reports that its tools have changed. */
  onToolsChanged(): void;
  /** Ends an attempt to connect. */
  signal: AbortSignal;
}

/**
 * Opens a connection. Over stdio it first uses the handshake of 2025, then protocol negotiation; over HTTP it negotiates at
 * once, and uses SSE for a URL that does not support Streamable HTTP.
 * @throws StepError tool_unavailable, environment
 */
export async function connect(
  server: ServerConfig,
  secrets: SecretSource,
  options: ConnectionOptions,
): Promise<Connection> {
  const [first, second] = transportCandidates(server, {
    secrets,
    mask: options.mask,
    proxies: options.proxies,
    now: options.now,
    maxBytes: MAX_RESPONSE_BYTES,
  });
  const isChild = server.command !== undefined;
  try {
    return await open(server, first!, isChild ? "legacy" : "auto", options);
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    const other = isChild
      ? cause instanceof ProtocolError && { make: first!, mode: "auto" as const }
      : isUnsupported(cause) && { make: second!, mode: "legacy" as const };
    if (other === false) throw error;
    // The first error is closer to what is configured.
    return await open(server, other.make, other.mode, options).catch(() => Promise.reject(error));
  }
}

const isUnsupported = (cause: unknown): boolean =>
  cause instanceof SdkHttpError && [400, 404, 405].includes(cause.status ?? 0);

async function open(
  server: ServerConfig,
  make: (onLost: (error: StepError) => void) => TransportHandle,
  mode: "legacy" | "auto",
  { version, connectTimeoutMs, mask, onToolsChanged, signal }: ConnectionOptions,
): Promise<Connection> {
  const broken = new AbortController();
  const handle = make((error) => broken.abort(error));
  const client = new Client(
    { name: "millrace", version },
    {
      // None, so requests of the server to its client are declined.
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode, probe: { timeoutMs: connectTimeoutMs } },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
    },
  );
  client.onerror = (error) => {
    if (error.message.startsWith("ReadBuffer exceeded"))
      broken.abort(outputTooLarge(server.name, MAX_RESPONSE_BYTES));
  };
  client.onclose = () =>
    broken.abort(
      serverUnavailable(server.name, `ended${handle.stderrTail() && `; it wrote: ${handle.stderrTail()}`}`),
    );
  const close = async (): Promise<void> => {
    await handle.close();
    await client.close();
  };
  // It is not ended early: the SDK waits for its response, or for the time-out.
  const caller: PendingRequest = { fail: () => undefined, trace: {} };
  try {
    await pendingRequest.run(caller, () =>
      client.connect(handle.transport, {
        timeout: connectTimeoutMs,
        signal: AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]),
      }),
    );
  } catch (error) {
    await close().catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    const cause = error instanceof DOMException && error.name === "TimeoutError" ? timedOut(server) : error;
    const failure = mcpStepError(
      { server: server.name, hasKey: server.key_var !== undefined, mask },
      undefined,
      cause,
      {
        stderrTail: handle.stderrTail(),
        refusal: caller.refusal,
      },
    );
    throw new StepError(failure.code, failure.message, { ...failure.options, cause });
  } finally {
    clearTimeout(caller.graceTimer);
  }
  return { client, brokenSignal: broken.signal, stderrTail: handle.stderrTail, close };
}

const timedOut = (server: ServerConfig): StepError =>
  serverUnavailable(server.name, "did not answer in time");
