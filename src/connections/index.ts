/** The connections of the configuration, behind the ports of core/connections.ts. Each is opened when it is first used. */
import type { Config } from "../../schemas/config.ts";
import type { ConfiguredConnections, Connections } from "../core/connections.ts";
import { NO_PROXIES, type OutgoingProxies, proxySecrets } from "../core/outgoing-proxy.ts";
import { rateIntervalMs } from "../core/rate.ts";
import type { SecretSource } from "../core/secret-source.ts";
import { createChats } from "./chats/index.ts";
import { configurationOf } from "./configuration-of.ts";
import { createDatabases } from "./databases/index.ts";
import { createHttpClient } from "./http/index.ts";
import { httpRules } from "./http/rules.ts";
import { type ConnectionConfig, limitConfig } from "./limit-config.ts";
import { loginsOf } from "./logins.ts";
import { createMailer } from "./mail/index.ts";
import { createMcpServers } from "./mcp-servers/index.ts";
import { createModels } from "./models/index.ts";
import { maskDatabases } from "./mask-databases.ts";
import { secretMasker } from "./secret-masker.ts";
import { signatureSecrets } from "./signature-secrets.ts";

/**
 * @param secrets the values of the variables that the configuration names, which can change
 * @param options `stateDir`: the state directory, in which workflows must not open databases; `proxies`: the outgoing proxies
 */
export function createConnections(
  config: Config,
  secrets: SecretSource,
  options: { stateDir: string; version: string; now: () => number; proxies?: OutgoingProxies },
): ConfiguredConnections {
  const { proxies = NO_PROXIES } = options;
  const mask = secretMasker(config, secrets, proxySecrets(proxies));
  const sql = createDatabases(config, secrets, options);
  const http = createHttpClient(config, secrets, { mask, proxies });
  const mcp = createMcpServers(config, secrets, { ...options, mask });
  const rulesOf = httpRules(config.http, proxies);
  const of = (limited: ConnectionConfig): Connections => ({
    databases: maskDatabases(sql.limitedTo(limited), mask),
    models: createModels(limited, secrets, { ...options, mask }),
    http: http.limitedTo(limited),
    mcpServers: mcp.limitedTo(limited),
    mailer: createMailer(limited, secrets),
    signatureSecrets: signatureSecrets(limited, secrets),
    chats: createChats(limited, secrets, http, options.now),
    maskSecrets: (text) => mask.text(text),
    maskSecretsIn: (value) => mask.json(value),
    defaultDatabase: limited.defaults.database ?? null,
    targetOf: (resource) => targetOf(limited, resource),
    configurationOf: (entry, use) =>
      configurationOf(limited, { rules: rulesOf(limited.httpPolicy), proxies }, { ...use, entry }),
    loginsOf: (entry) => loginsOf(limited, entry),
  });
  return {
    ...of(config),
    limitedTo: (view) => of(limitConfig(config, view)),
    async close() {
      await Promise.all([sql.close(), http.close(), mcp.close()]);
    },
  };
}

function targetOf(config: ConnectionConfig, resource: string): Readonly<Record<string, unknown>> | null {
  const [kind, name] = resource.split(/:(.*)/s);
  const named = <T extends { name: string }>(entries: readonly T[]): T | undefined =>
    entries.find((entry) => entry.name === name);
  switch (kind) {
    case "database": {
      const entry = named(config.databases);
      if (entry === undefined) return null;
      return { type: entry.type, dataset: entry.dataset, role: entry.role };
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
