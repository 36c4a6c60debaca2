/** The connections of the configuration, behind the ports of core/connections.ts. Each is opened when it is first used. */
import type { Config } from "../../schemas/config.ts";
import type { Connections } from "../core/connections.ts";
import { rateIntervalMs } from "../core/rate.ts";
import { createDatabases } from "./databases/index.ts";
import { createHttpClient } from "./http/index.ts";
import { createMailer } from "./mail/index.ts";
import { createMcpServers } from "./mcp-servers/index.ts";
import { createModels } from "./models/index.ts";
import { maskDatabases } from "./mask-databases.ts";
import { secretMasker } from "./secret-masker.ts";

/**
 * @param env environment variables that the configuration names
 * @param options `stateDir`: the state directory, in which workflows must not open databases
 */
export function createConnections(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  options: { stateDir: string; version: string; now: () => number },
): Connections {
  const mask = secretMasker(config, env);
  const sql = createDatabases(config, env, options);
  const http = createHttpClient(config, env, { mask });
  const mcp = createMcpServers(config, env, { ...options, mask });
  return {
    databases: maskDatabases(sql, mask),
    models: createModels(config, env, { ...options, mask }),
    http,
    mcpServers: mcp,
    mailer: createMailer(config, env),
    defaultDatabase: config.defaults.database ?? null,
    targetOf: (resource) => targetOf(config, resource),
    configurationOf: (entry) => configurationOf(config, entry),
    async close() {
      await Promise.all([sql.close(), http.close(), mcp.close()]);
    },
  };
}

function targetOf(config: Config, resource: string): Readonly<Record<string, unknown>> | null {
  const [kind, name] = resource.split(/:(.*)/s);
  const named = <T extends { name: string }>(entries: readonly T[]): T | undefined =>
    entries.find((entry) => entry.name === name);
  switch (kind) {
    case "database": {
      const entry = named(config.databases);
      return entry === undefined ? null : { type: entry.type, dataset: entry.dataset };
    }
    case "model": {
      const entry = named(config.models);
      if (entry === undefined) return null;
      return { vendor: entry.vendor, model_ref: entry.model_ref, base_url: entry.base_url };
    }
    case "mcp_server": {
      const entry = named(config.mcp_servers);
      if (entry === undefined) return null;
      return { command: entry.command, args: entry.args, url: entry.url, env: entry.env };
    }
    default:
      return null;
  }
}

function configurationOf(config: Config, entry: string): Readonly<Record<string, unknown>> | null {
  const [kind, name] = entry.split(/:(.*)/s);
  const named = (
    entries: readonly { name: string; concurrency?: unknown; rate?: unknown; prices?: unknown }[],
  ): Readonly<Record<string, unknown>> | null => {
    const found = entries.find((candidate) => candidate.name === name);
    if (found === undefined) return null;
    const { concurrency: _concurrency, rate: _rate, prices: _prices, ...rest } = found;
    return rest;
  };
  switch (kind) {
    case "database":
      return named(config.databases);
    case "model":
      return named(config.models);
    case "mcp_server":
      return named(config.mcp_servers);
    case "secret":
      return named(config.secrets);
    case "secrets":
      return { secrets: config.secrets };
    case "http":
      return config.http;
    case "mail":
      return { ...config.mail, server: config.authentication.basic ?? null };
    default:
      return null;
  }
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
