/** Creates the transports to a configured server: a child process or HTTP. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { OutgoingProxies } from "../../core/outgoing-proxy.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import type { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { readExactLines } from "./exact-messages.ts";
import { serverVariables, type ServerConfig } from "./server-config.ts";

/** How much of a child's error output is kept, in characters. */
const STDERR_KEPT = 2_000;
/** How much of it appears in messages, in characters. */
const STDERR_SHOWN = 300;

/** A transport that is not connected yet. */
export interface TransportHandle {
  transport: Transport;
  /** The end of the child's error output, with secrets masked. */
  stderrTail(): string;
  /** Closes what the transport leaves open: the session, sockets. */
  close(): Promise<void>;
}

interface TransportOptions {
  secrets: SecretSource;
  mask: Masker;
  proxies: OutgoingProxies;
  now(): number;
  /** Maximum size of a response, in bytes. */
  maxBytes: number;
}

/**
 * Returns functions that create transports to a server, in the order in which they are tried.
 * @returns each takes a callback for responses that were lost
 */
export function transportCandidates(
  server: ServerConfig,
  options: TransportOptions,
): ((onLost: (error: StepError) => void) => TransportHandle)[] {
  if (server.command !== undefined) return [() => child(server, server.command!, options)];
  const { secrets, proxies, now, maxBytes } = options;
  const url = new URL(server.url!);
  const { key_var: variable } = server;
  // After a 401 the SDK sends the request once more: the server has refused it before it did anything.
  const auth =
    variable === undefined
      ? {}
      : {
          authProvider: {
            token: () => Promise.resolve(secrets.get(variable)),
            onUnauthorized: () => secrets.reread([variable]),
          },
        };
  return [
    (onResponseLost) => {
      const { fetch, close } = createBoundedFetch(server.name, {
        proxies,
        now,
        maxBytes,
        onResponseLost,
        responsesOnGetStream: false,
      });
      const transport = new StreamableHTTPClientTransport(url, { fetch, ...auth });
      const end = async (): Promise<void> => {
        await Promise.race([transport.terminateSession().catch(() => undefined), soon()]);
        await close();
      };
      return { transport, stderrTail: () => "", close: end };
    },
    (onResponseLost) => {
      const { fetch, close } = createBoundedFetch(server.name, {
        proxies,
        now,
        maxBytes,
        onResponseLost,
        responsesOnGetStream: true,
      });
      const transport = new SSEClientTransport(url, { fetch, ...auth });
      return { transport, stderrTail: () => "", close };
    },
  ];
}

const soon = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 1_000).unref());

function child(
  server: ServerConfig,
  command: string,
  { secrets, mask, maxBytes }: TransportOptions,
): TransportHandle {
  // The SDK adds PATH, HOME, USER and similar variables, and nothing else of this process.
  const transport = new StdioClientTransport({
    command,
    args: server.args ?? [],
    env: serverVariables(server, secrets),
    stderr: "pipe",
    maxBufferSize: 3 * maxBytes,
  });
  readExactLines(transport, maxBytes);
  let written = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    // Masked together with what follows, because a chunk may end within a secret.
    written = mask.text(written + chunk.toString("utf8")).slice(-STDERR_KEPT);
  });
  return {
    transport,
    stderrTail: () => written.trim().slice(-STDERR_SHOWN),
    close: () => Promise.resolve(),
  };
}
