/** The MCP servers of the configuration, behind the port that steps use. */
import type { Config } from "../../../schemas/config.ts";
import type { McpServers } from "../../core/connections.ts";
import { MINUTE, SECOND } from "../../core/clock.ts";
import { nearMatch } from "../../core/near-match.ts";
import { StepError } from "../../core/step-errors.ts";
import { secretMasker } from "../secret-masker.ts";
import { CORRECT_ENTRY, unusableNames } from "../../core/unusable-entries.ts";
import type { McpServerClient, McpServerOptions } from "./server-client.ts";
import { unusableReason, type Environment } from "./server-config.ts";

/**
 * Creates clients with one shared connection for each server, opened on demand.
 * @param env environment variables that the configuration names
 * @returns call `close` when the process ends; it ends the child processes
 */
export function createMcpServers(
  config: Pick<Config, "mcp_servers" | "unusable">,
  env: Environment,
  options: Partial<McpServerOptions> = {},
): McpServers & { close(): Promise<void> } {
  const all: McpServerOptions = {
    version: "0",
    connectTimeoutMs: 30 * SECOND,
    idleTimeoutMs: 5 * MINUTE,
    toolsCacheMs: MINUTE,
    mask: secretMasker(config, env),
    ...options,
  };
  const servers = config.mcp_servers;
  const unusable = unusableNames(config, "mcp_servers");
  const peers = new Map<string, Promise<McpServerClient>>();

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
        fix:
          near === undefined
            ? `Add it to mcp_servers in the configuration, which has ${names.length === 0 ? "no servers" : names.join(", ")}.`
            : `Write ${near}.`,
      });
    }
    const reason = unusableReason(server, env);
    if (reason !== null)
      throw new StepError("environment", `The MCP server ${name} cannot be used: ${reason}.`);
    // The SDK is loaded with the first call, because most processes call no server.
    const known =
      peers.get(name) ??
      import("./server-client.ts").then(({ createMcpServerClient }) =>
        createMcpServerClient(server, env, all),
      );
    peers.set(name, known);
    return known;
  }

  return {
    list: () => [
      ...servers.map((server) => ({
        name: server.name,
        type: server.command === undefined ? "http" : "stdio",
        unavailableReason: unusableReason(server, env),
      })),
      ...unusable.map(({ name, reason }) => ({ name, type: "unknown", unavailableReason: reason })),
    ],
    concurrencyOf: (name) => servers.find((server) => server.name === name)?.concurrency ?? null,
    rateOf: (name) => servers.find((server) => server.name === name)?.rate ?? null,
    tools: async (server, context) => (await peerOf(server)).tools(context),
    call: async (server, tool, args, sent, context) => (await peerOf(server)).call(tool, args, sent, context),
    async close() {
      await Promise.allSettled([...peers.values()].map(async (peer) => (await peer).close()));
    },
  };
}
