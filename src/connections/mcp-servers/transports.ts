/** How a configured server is reached: a child process or a URL. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { type Environment, serverVariables, type ServerConfig } from "./server-config.ts";

const STDERR_KEPT = 2_000;
const STDERR_SHOWN = 300;

/** A way to a server, not yet open. */
export interface TransportHandle {
  transport: Transport;
  /** What it wrote to its error output last, secrets masked. */
  stderrTail(): string;
  /** Ends what the transport does not: a session, sockets. */
  close(): Promise<void>;
}

interface TransportOptions {
  env: Environment;
  mask: Masker;
  /** Of one answer. */
  maxBytes: number;
}

/**
 * The ways to a server, best first; each is made only when it is tried.
 * @returns each takes what is called when answers that are on their way are lost
 */
export function transportCandidates(
  server: ServerConfig,
  options: TransportOptions,
): ((onLost: (error: StepError) => void) => TransportHandle)[] {
  if (server.command !== undefined) return [() => child(server, server.command!, options)];
  const { env, maxBytes } = options;
  const url = new URL(server.url!);
  const token = server.key_var === undefined ? undefined : env[server.key_var];
  const auth = token === undefined ? {} : { authProvider: { token: () => Promise.resolve(token) } };
  return [
    (onResponseLost) => {
      const { fetch, close } = createBoundedFetch(server.name, {
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
  { env, mask, maxBytes }: TransportOptions,
): TransportHandle {
  // The SDK adds PATH, HOME, USER and the like, and nothing else of ours.
  const transport = new StdioClientTransport({
    command,
    args: server.args ?? [],
    env: serverVariables(server, env),
    stderr: "pipe",
    maxBufferSize: maxBytes,
  });
  let written = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    // Of half a secret at the end the rest is yet to come.
    written = mask.text(written + chunk.toString("utf8")).slice(-STDERR_KEPT);
  });
  return {
    transport,
    stderrTail: () => written.trim().slice(-STDERR_SHOWN),
    close: () => Promise.resolve(),
  };
}
