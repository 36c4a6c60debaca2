/** The MCP servers of the configuration, behind the port that steps use. */
import type { McpServers } from "../../core/connections.ts";
import { NO_PROXIES } from "../../core/outgoing-proxy.ts";
import { MINUTE, SECOND } from "../../core/clock.ts";
import { nearMatch } from "../../core/near-match.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { type ConnectionConfig, missingFix } from "../limit-config.ts";
import { secretMasker } from "../secret-masker.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import type { McpServerClient, McpServerOptions } from "./server-client.ts";
import { type ServerConfig, serverSecrets, unusableReason } from "./server-config.ts";

type McpConfig = Pick<ConnectionConfig, "mcp_servers" | "unusable" | "allowedTools" | "isLimited">;

export interface SharedMcpServers extends McpServers {
  /** The servers of a part of the configuration, on the same connections. */
  limitedTo(config: McpConfig): McpServers;
  close(): Promise<void>;
}

/**
 * Creates clients with one shared connection for each server, opened on demand.
 * @param secrets the values of the keys and variables of the servers, which can change
 * @returns call `close` when the process ends; it ends the child processes
 */
export function createMcpServers(
  config: McpConfig,
  secrets: SecretSource,
  options: Partial<McpServerOptions> & Pick<McpServerOptions, "now">,
): SharedMcpServers {
  const all: McpServerOptions = {
    version: "0",
    connectTimeoutMs: 30 * SECOND,
    idleTimeoutMs: 5 * MINUTE,
    toolsCacheMs: MINUTE,
    mask: secretMasker(config, secrets),
    proxies: NO_PROXIES,
    ...options,
  };
  let closed = false;
  const peers = new Map<string, Promise<McpServerClient>>();

  /** The SDK is loaded with the first call, because most processes call no server. */
  const connectTo = (server: ServerConfig): Promise<McpServerClient> => {
    if (closed) throw new StepError("interrupted", "The executor is shutting down.");
    const known =
      peers.get(server.name) ??
      import("./server-client.ts").then(({ createMcpServerClient }) =>
        createMcpServerClient(server, secrets, all),
      );
    peers.set(server.name, known);
    return known;
  };
  const front = (limited: McpConfig): McpServers => namedServers(limited, secrets, connectTo);

  return {
    ...front(config),
    limitedTo: front,
    async close() {
      closed = true;
      await Promise.allSettled([...peers.values()].map(async (peer) => (await peer).close()));
    },
  };
}

/** The servers of a configuration, by name. */
function namedServers(
  { allowedTools, ...config }: McpConfig,
  secrets: SecretSource,
  connectTo: (server: ServerConfig) => Promise<McpServerClient>,
): McpServers {
  const servers = config.mcp_servers;
  const unusable = unusableNames(config, "mcp_servers");
  const toolsOf = (server: string): readonly string[] | null => allowedTools?.get(server) ?? null;

  async function peerOf(name: string): Promise<McpServerClient> {
    const server = servers.find((candidate) => candidate.name === name);
    const broken = unusable.find((other) => other.name === name);
    if (broken !== undefined)
      throw new StepError("environment", `The MCP server ${name} cannot be used: ${broken.reason}.`, {
        fix: CORRECT_ENTRY,
      });
    if (server === undefined) {
      const names = servers.map((candidate) => candidate.name);
      const near = nearMatch(name, names);
      throw new StepError("environment", `There is no MCP server ${name}.`, {
        fix: missingFix(
          config,
          near === undefined
            ? `Add it to mcp_servers in the configuration, which has ${names.length === 0 ? "no servers" : names.join(", ")}.`
            : `Write ${near}.`,
        ),
      });
    }
    await secrets.load(serverSecrets(server));
    const reason = unusableReason(server, secrets);
    if (reason !== null)
      throw new StepError("environment", `The MCP server ${name} cannot be used: ${reason}.`);
    return connectTo(server);
  }

  return {
    list: () => [
      ...servers.map((server) => ({
        name: server.name,
        type: server.command === undefined ? "http" : "stdio",
        unavailableReason: unusableReason(server, secrets),
      })),
      ...unusable.map(({ name, reason }) => ({ name, type: "unknown", unavailableReason: reason })),
    ],
    concurrencyOf: (name) => servers.find((server) => server.name === name)?.concurrency ?? null,
    rateOf: (name) => servers.find((server) => server.name === name)?.rate ?? null,
    tools: async (server, context) => (await peerOf(server)).tools(context, toolsOf(server)),
    call: async (server, tool, args, sent, context) =>
      (await peerOf(server)).call(tool, args, { ...sent, allowed: toolsOf(server) }, context),
  };
}
