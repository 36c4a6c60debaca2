/** How a configured server is reached: a child process or a URL. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { type Environment, handedTo, type ServerConfig } from "./server-config.ts";

const STDERR_KEPT = 2_000;
const STDERR_SHOWN = 300;

/** A way to a server, not yet open. */
export interface Way {
  transport: Transport;
  /** What it wrote to its error output last, secrets masked. */
  aside(): string;
  /** Ends what the transport does not: a session, sockets. */
  close(): Promise<void>;
}

interface WayOptions {
  env: Environment;
  mask: Masker;
  /** Of one answer. */
  maxBytes: number;
}

/**
 * The ways to a server, best first; each is made only when it is tried.
 * @returns each takes what is called when answers that are on their way are lost
 */
export function waysTo(
  server: ServerConfig,
  options: WayOptions,
): ((onLost: (error: StepError) => void) => Way)[] {
  if (server.command !== undefined) return [() => child(server, server.command!, options)];
  const { env, maxBytes } = options;
  const url = new URL(server.url!);
  const token = server.key_var === undefined ? undefined : env[server.key_var];
  const auth = token === undefined ? {} : { authProvider: { token: () => Promise.resolve(token) } };
  return [
    (onLost) => {
      const { fetch, close } = boundedFetch(server.name, { maxBytes, onLost, answersByGet: false });
      const transport = new StreamableHTTPClientTransport(url, { fetch, ...auth });
      const end = async (): Promise<void> => {
        await Promise.race([transport.terminateSession().catch(() => undefined), soon()]);
        await close();
      };
      return { transport, aside: () => "", close: end };
    },
    (onLost) => {
      const { fetch, close } = boundedFetch(server.name, { maxBytes, onLost, answersByGet: true });
      const transport = new SSEClientTransport(url, { fetch, ...auth });
      return { transport, aside: () => "", close };
    },
  ];
}

const soon = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 1_000).unref());

function child(server: ServerConfig, command: string, { env, mask, maxBytes }: WayOptions): Way {
  // The SDK adds PATH, HOME, USER and the like, and nothing else of ours.
  const transport = new StdioClientTransport({
    command,
    args: server.args ?? [],
    env: handedTo(server, env),
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
    aside: () => written.trim().slice(-STDERR_SHOWN),
    close: () => Promise.resolve(),
  };
}
