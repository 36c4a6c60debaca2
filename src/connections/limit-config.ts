/**
 * The configuration as if it had only what a view allows. Everything that workflows use is made from a configuration, so what
 * is not granted can't be distinguished from what is not configured: there is no second set of rules.
 */
import type { Config, UnusableEntry } from "../../schemas/config.ts";
import { canonicalDomain } from "../../schemas/mail-address.ts";
import type { ConnectionView, DatabaseGrant } from "../core/connection-view.ts";
import { withGrantHint } from "../core/grant-hint.ts";
import type { HttpPolicy } from "../core/http-policy.ts";

/** A database, with the login that a grant names instead of its own. */
export type DatabaseEntry = Config["databases"][number] & {
  role?: { name: string; user: string } | undefined;
};

/** A configuration of connections, or a part of one. */
export type ConnectionConfig = Omit<Config, "databases"> & {
  databases: readonly DatabaseEntry[];
  /** The tools that may be called, by MCP server; all tools of a server that is missing, or null. */
  allowedTools?: ReadonlyMap<string, readonly string[] | null>;
  /** Whether a view allows only a part of it, which errors then say. */
  isLimited?: true;
  /** Limits requests in addition to `http`. */
  httpPolicy?: HttpPolicy;
};

/** @returns the fix of an error about a name that is not configured, or not granted */
export const missingFix = ({ isLimited }: Pick<ConnectionConfig, "isLimited">, fix: string): string =>
  isLimited === true ? withGrantHint(fix) : fix;

/** @returns the part of the configuration that the view allows */
export function limitConfig(config: Config, view: ConnectionView): ConnectionConfig {
  const { databases, models, mcpServers, secrets, privateHosts, publicHttp, mailDomains, chats } = view;
  const isAllowed: Readonly<Record<UnusableEntry["list"], (name: string) => boolean>> = {
    databases: (name) => databases?.has(name) !== false,
    models: (name) => models?.includes(name) !== false,
    mcp_servers: (name) => mcpServers?.has(name) !== false,
    secrets: (name) => secrets?.includes(name) !== false,
  };
  const allowed = <T extends { name: string }>(list: UnusableEntry["list"], entries: readonly T[]): T[] =>
    entries.filter(({ name }) => isAllowed[list](name));
  const granted = allowed("databases", config.databases).map((entry) =>
    asGranted(entry, databases?.get(entry.name)),
  );
  const { database } = config.defaults;
  return {
    ...config,
    isLimited: true,
    chats: config.chats.filter(({ name }) => chats?.includes(name) !== false),
    databases: granted.flatMap((entry) => ("list" in entry ? [] : [entry])),
    models: allowed("models", config.models),
    mcp_servers: allowed("mcp_servers", config.mcp_servers),
    secrets: allowed("secrets", config.secrets),
    unusable: [
      ...(config.unusable ?? []).filter(({ list, name }) => isAllowed[list](name)),
      ...granted.flatMap((entry) => ("list" in entry ? [entry] : [])),
    ],
    defaults: database !== undefined && isAllowed.databases(database) ? { database } : {},
    mail: {
      ...config.mail,
      allowed_domains: config.mail.allowed_domains.filter(
        (domain) =>
          mailDomains === null ||
          mailDomains.some((granted_) => canonicalDomain(granted_) === canonicalDomain(domain)),
      ),
    },
    ...(mcpServers !== null && { allowedTools: mcpServers }),
    ...((privateHosts !== null || publicHttp !== null) && {
      httpPolicy: {
        public: publicHttp?.policy ?? "any",
        publicHosts: publicHttp?.hosts ?? [],
        privateHosts: privateHosts ?? config.http.allowed_hosts,
      },
    }),
  };
}

/** The entry of a database with what its grant limits; unusable when its role is no longer configured. */
function asGranted(entry: DatabaseEntry, grant: DatabaseGrant = {}): DatabaseEntry | UnusableEntry {
  const limited: DatabaseEntry = grant.readOnly === true ? { ...entry, access: "read-only" } : entry;
  if (grant.role === undefined) return limited;
  const role = entry.roles?.find(({ name }) => name === grant.role);
  if (role === undefined)
    return {
      list: "databases",
      name: entry.name,
      issues: [`roles must contain ${grant.role}, the role that this project is granted`],
    };
  const { password_var: _own, ...rest } = limited;
  return {
    ...rest,
    ...(role.password_var !== undefined && { password_var: role.password_var }),
    role: { name: role.name, user: role.user },
  };
}
