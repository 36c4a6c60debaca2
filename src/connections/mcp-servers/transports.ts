/** How a configured server is reached: a child process or a URL. */
import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { StepError } from "../../core/step-errors.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Environment, ServerConfig } from "./server-config.ts";

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

/**
 * The ways to a server, best first; each is made only when it is tried.
 * @param maxBytes of one answer
 * @returns each takes what is called when answers that are on their way are lost
 */
export function waysTo(
  server: ServerConfig,
  env: Environment,
  maxBytes: number,
): ((onLost: (error: StepError) => void) => Way)[] {
  if (server.command !== undefined) return [() => child(server, server.command!, env, maxBytes)];
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

function child(server: ServerConfig, command: string, env: Environment, maxBytes: number): Way {
  const handed = Object.fromEntries(
    [
      ...(server.key_var === undefined ? [] : [[server.key_var, env[server.key_var]] as const]),
      ...Object.entries(server.env ?? {}).map(([name, variable]) => [name, env[variable]] as const),
    ].filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  // The SDK adds PATH, HOME, USER and the like, and nothing else of ours.
  const transport = new StdioClientTransport({
    command,
    args: server.args ?? [],
    env: handed,
    stderr: "pipe",
    maxBufferSize: maxBytes,
  });
  let written = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    written = (written + chunk.toString("utf8")).slice(-STDERR_KEPT);
  });
  const secrets = Object.values(handed).filter((value) => value.length > 3);
  return {
    transport,
    aside: () =>
      secrets
        .reduce((text, secret) => text.replaceAll(secret, "***"), written)
        .trim()
        .slice(-STDERR_SHOWN),
    close: () => Promise.resolve(),
  };
}
