/** The connections of the configuration, behind the ports of core/connections.ts. Each is opened when it is first used. */
import type { Config } from "../../schemas/config.ts";
import type { Connections } from "../core/connections.ts";
import { createDatabases } from "./databases/index.ts";
import { createHttpClient } from "./http/index.ts";
import { createMailer } from "./mail/index.ts";
import { createMcpServers } from "./mcp-servers/index.ts";
import { createModels } from "./models/index.ts";

/**
 * @param env environment variables that the configuration names
 * @param options `stateDir`: the state directory, in which workflows must not open databases
 */
export function createConnections(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  options: { stateDir: string; version: string; now: () => number },
): Connections {
  const sql = createDatabases(config, env, options);
  const mcp = createMcpServers(config, env, options);
  return {
    databases: sql,
    models: createModels(config, env, options),
    http: createHttpClient(config, env),
    mcpServers: mcp,
    mailer: createMailer(config, env),
    defaultDatabase: config.defaults.database ?? null,
    async close() {
      await Promise.all([sql.close(), mcp.close()]);
    },
  };
}

/** Maximum number of attempts that use a connection at a time, over all executors, by resource name. */
export function concurrencyLimits({
  databases: sql,
  models: ai,
  mcpServers: mcp,
}: Connections): ReadonlyMap<string, number> {
  return new Map([
    ...limited("database", sql.list(), (name) => sql.concurrencyOf(name)),
    ...limited("model", ai.list(), (name) => ai.concurrencyOf(name)),
    ...limited("mcp_server", mcp.list(), (name) => mcp.concurrencyOf(name)),
  ]);
}

const limited = (kind: string, list: readonly { name: string }[], limit: (name: string) => number | null) =>
  list.flatMap(({ name }) => {
    const most = limit(name);
    return most === null ? [] : [[`${kind}:${name}`, most] as const];
  });
