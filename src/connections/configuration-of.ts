/** What the configuration says about an entry that steps use: all of it, or only what concerns one use. Never a secret. */
import type { Config } from "../../schemas/config.ts";
import type { ConfigurationUse } from "../core/connections.ts";
import type { HttpPolicy } from "../core/http-policy.ts";
import type { OutgoingProxies } from "../core/outgoing-proxy.ts";
import { hostMatcher, type HostPort, hostPortOf } from "./http/hosts.ts";
import type { HttpRules } from "./http/rules.ts";
import type { ConnectionConfig } from "./limit-config.ts";

type Settings = Readonly<Record<string, unknown>>;
type Secret = Config["secrets"][number];

interface HttpContext {
  rules: HttpRules;
  proxies: OutgoingProxies;
}

/** @returns null for an entry that is not configured */
export function configurationOf(
  config: ConnectionConfig,
  http: HttpContext,
  { entry, origin, method, header, domains, tool }: ConfigurationUse,
): Settings | null {
  const [kind, name] = entry.split(/:(.*)/s);
  const url = origin === undefined ? null : URL.parse(origin);
  switch (kind) {
    case "database":
      return named(config.databases, name);
    case "model":
      return named(config.models, name);
    case "mcp_server":
      return withTools(named(config.mcp_servers, name), config.allowedTools?.get(name ?? "") ?? null, tool);
    case "secret": {
      const secret = config.secrets.find((candidate) => candidate.name === name);
      if (secret === undefined || url === null) return secret ?? null;
      return secretFor(secret, hostPortOf(url), method, header);
    }
    case "secrets": {
      if (url === null) return { secrets: config.secrets };
      const place = hostPortOf(url);
      const sendable = config.secrets.filter(({ hosts }) => hostMatcher(hosts)(place));
      return { secrets: sendable.map(({ hosts: _hosts, ...secret }) => secret) };
    }
    case "http":
      return url === null ? httpConfiguration(config.http, config.httpPolicy) : httpFor(url, config, http);
    case "chat": {
      const found = config.chats.find((chat) => chat.name === name);
      return found === undefined ? null : { ...found };
    }
    case "mail":
      return mailFor(config, domains);
    default:
      return null;
  }
}

/** An entry without limits, prices and other logins. */
function named(
  entries: readonly {
    name: string;
    concurrency?: unknown;
    rate?: unknown;
    prices?: unknown;
    roles?: unknown;
  }[],
  name: string | undefined,
): Settings | null {
  const found = entries.find((candidate) => candidate.name === name);
  if (found === undefined) return null;
  const { concurrency: _concurrency, rate: _rate, prices: _prices, roles: _roles, ...rest } = found;
  return rest;
}

function withTools(server: Settings | null, tools: readonly string[] | null, tool?: string): Settings | null {
  if (server === null || tools === null) return server;
  if (tool === undefined) return { ...server, tools };
  // Without grants every tool is allowed, and nothing says so either.
  return tools.includes(tool) ? server : { ...server, tool_allowed: false };
}

/** What a request to one origin depends on. Redirects are followed within the origin only. */
function httpFor(url: URL, { http }: ConnectionConfig, { rules, proxies }: HttpContext): Settings {
  const place = hostPortOf(url);
  const proxy = proxies.proxyFor(url);
  return {
    allowed: rules.refusal(place) === undefined,
    private_address: rules.isPrivateAllowed(place),
    ...(proxy !== null && { proxy: proxy.url.href, proxy_resolves: http.proxy_resolves }),
  };
}

/** What a secret in a request to one host depends on; of a method or header that is not known, on all that are allowed. */
function secretFor(
  { key_var, hosts, methods, headers }: Secret,
  place: HostPort,
  method: string | undefined,
  header: string | undefined,
): Settings {
  const sent = header?.toLowerCase();
  return {
    key_var,
    hosts: hostMatcher(hosts)(place),
    methods: method === undefined ? methods : methods === undefined || methods.some((one) => one === method),
    headers:
      sent === undefined
        ? headers
        : headers === undefined || headers.some((one) => one.toLowerCase() === sent),
  };
}

function mailFor({ mail, authentication }: ConnectionConfig, domains?: readonly string[]): Settings {
  const server = authentication.basic ?? null;
  if (domains === undefined) return { ...mail, server };
  const allowed = new Set(mail.allowed_domains.map((domain) => domain.toLowerCase()));
  return {
    from: mail.from,
    server,
    ...Object.fromEntries(domains.map((domain) => [`to ${domain}`, allowed.has(domain)])),
  };
}

/** Without settings that have their defaults: the digests of pending approvals stay the same with a release that adds one. */
const httpConfiguration = (
  { allowed_hosts, public: hosts, public_hosts, proxy_resolves }: Config["http"],
  policy: HttpPolicy | undefined,
): Settings => ({
  allowed_hosts,
  ...(hosts !== "any" && { public: hosts, public_hosts }),
  ...(proxy_resolves && { proxy_resolves }),
  ...(policy !== undefined && { policy }),
});
