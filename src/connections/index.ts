/** The connections of the configuration, behind the ports of core/connections.ts. Each is opened when it is first used. */
import type { Config } from "../../schemas/config.ts";
import type { ConfiguredConnections, Connections } from "../core/connections.ts";
import type { HttpPolicy } from "../core/http-policy.ts";
import { type InterruptionRules, toInterruptionRule } from "../core/interruption-rules.ts";
import { NO_PROXIES, type OutgoingProxies, proxySecrets } from "../core/outgoing-proxy.ts";
import { rateIntervalMs } from "../core/rate.ts";
import type { SecretSource } from "../core/secret-source.ts";
import { createChats } from "./chats/index.ts";
import { createDatabases } from "./databases/index.ts";
import { createHttpClient } from "./http/index.ts";
import { type ConnectionConfig, limitConfig } from "./limit-config.ts";
import { loginsOf } from "./logins.ts";
import { createMailer } from "./mail/index.ts";
import { mailPlaces } from "./mail/smtp.ts";
import { createMcpServers } from "./mcp-servers/index.ts";
import { createModels } from "./models/index.ts";
import { maskDatabases } from "./mask-databases.ts";
import { secretMasker } from "./secret-masker.ts";
import { signatureSecrets } from "./signature-secrets.ts";

/**
 * @param secrets the values of the variables that the configuration names, which can change
 * @param options `stateDir`: the state directory, in which workflows must not open databases; `proxies`: the outgoing proxies;
 *   `prepareTimeoutMs` and `childProgram`: see `DatabasesOptions`
 */
export function createConnections(
  config: Config,
  secrets: SecretSource,
  options: {
    stateDir: string;
    version: string;
    now: () => number;
    proxies?: OutgoingProxies;
    prepareTimeoutMs?: number;
    childProgram?: string | undefined;
  },
): ConfiguredConnections {
  const { proxies = NO_PROXIES } = options;
  const mask = secretMasker(config, secrets, proxySecrets(proxies));
  const sql = createDatabases(config, secrets, options);
  const http = createHttpClient(config, secrets, { mask, proxies });
  const mcp = createMcpServers(config, secrets, { ...options, mask });
  const places = mailPlaces();
  const of = (limited: ConnectionConfig): Connections => ({
    databases: maskDatabases(sql.limitedTo(limited), mask),
    models: createModels(limited, secrets, { ...options, mask }),
    http: http.limitedTo(limited),
    mcpServers: mcp.limitedTo(limited),
    mailer: createMailer(limited, secrets, places),
    signatureSecrets: signatureSecrets(limited, secrets),
    chats: createChats(limited, secrets, http, options.now),
    maskSecrets: (text) => mask.text(text),
    defaultDatabase: limited.defaults.database ?? null,
    targetOf: (resource) => targetOf(limited, resource),
    configurationOf: (entry) => configurationOf(limited, entry),
    interruptionRules: interruptionRulesOf(limited),
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

const interruptionRulesOf = ({
  databases,
  mcp_servers: servers,
  mail,
  http,
}: ConnectionConfig): InterruptionRules => ({
  hosts: http.hosts.map((entry) => ({ host: entry.host, ...toInterruptionRule(entry) })),
  resources: Object.fromEntries([
    ...databases.map((entry) => [`database:${entry.name}`, toInterruptionRule(entry)] as const),
    ...servers.map((entry) => [`mcp_server:${entry.name}`, toInterruptionRule(entry)] as const),
    ["mail", toInterruptionRule(mail)] as const,
  ]),
});

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

function configurationOf(config: ConnectionConfig, entry: string): Readonly<Record<string, unknown>> | null {
  const [kind, name] = entry.split(/:(.*)/s);
  const named = (
    entries: readonly {
      name: string;
      concurrency?: unknown;
      rate?: unknown;
      prices?: unknown;
      roles?: unknown;
      idempotent?: unknown;
    }[],
  ): Readonly<Record<string, unknown>> | null => {
    const found = entries.find((candidate) => candidate.name === name);
    if (found === undefined) return null;
    const { concurrency: _concurrency, rate: _rate, prices: _prices, roles: _roles, ...rest } = found;
    const { idempotent, ...others } = rest;
    return idempotent === true ? rest : others;
  };
  switch (kind) {
    case "database":
      return named(config.databases);
    case "model":
      return named(config.models);
    case "mcp_server":
      return withTools(named(config.mcp_servers), config.allowedTools?.get(name ?? "") ?? null);
    case "secret":
      return named(config.secrets);
    case "secrets":
      return { secrets: config.secrets };
    case "http":
      return httpConfiguration(config.http, config.httpPolicy);
    case "chat": {
      const found = config.chats.find((chat) => chat.name === name);
      return found === undefined ? null : { ...found };
    }
    case "mail":
      return { ...config.mail, server: config.authentication.basic ?? null };
    default:
      return null;
  }
}

/** Without settings that have their defaults: the digests of pending approvals stay the same with a release that adds one. */
const httpConfiguration = (
  { allowed_hosts, public: reached, public_hosts, proxy_resolves, hosts }: Config["http"],
  policy: HttpPolicy | undefined,
) => ({
  allowed_hosts,
  ...(reached !== "any" && { public: reached, public_hosts }),
  ...(proxy_resolves && { proxy_resolves }),
  ...(hosts.length > 0 && { hosts }),
  ...(policy !== undefined && { policy }),
});

const withTools = (
  server: Readonly<Record<string, unknown>> | null,
  tools: readonly string[] | null,
): Readonly<Record<string, unknown>> | null =>
  server === null || tools === null ? server : { ...server, tools };

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
