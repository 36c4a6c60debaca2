/** The connections of the configuration, behind the ports of core/connections.ts. Each is opened when it is first used. */
import type { Config } from "../../schemas/config.ts";
import type { Connections } from "../core/connections.ts";
import { rateIntervalMs } from "../core/rate.ts";
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
export const concurrencyLimits = (connections: Connections): ReadonlyMap<string, number> =>
  byResource(connections, (list, name) => list.concurrencyOf(name));

/** The pause between the starts of two attempts that use a connection, in milliseconds, by resource name. */
export const rateIntervals = (connections: Connections): ReadonlyMap<string, number> =>
  byResource(connections, (list, name) => {
    const rate = list.rateOf(name);
    return rate === null ? null : rateIntervalMs(rate);
  });

type LimitedConnections = Pick<Connections["databases"], "concurrencyOf" | "rateOf">;

function byResource(
  { databases, models, mcpServers }: Connections,
  limitOf: (list: LimitedConnections, name: string) => number | null,
): ReadonlyMap<string, number> {
  const kinds = { database: databases, model: models, mcp_server: mcpServers };
  return new Map(
    Object.entries(kinds).flatMap(([kind, list]) =>
      list.list().flatMap(({ name }) => {
        const limit = limitOf(list, name);
        return limit === null ? [] : [[`${kind}:${name}`, limit] as const];
      }),
    ),
  );
}
