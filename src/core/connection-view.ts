/** What a project, or a key with limits, may use of the configured connections. */
import type { HttpPublic } from "../../schemas/project.ts";
import type { KeyLimits } from "./access.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { ConfiguredConnections, Connections } from "./connections.ts";
import type { Grant, ProjectRecord } from "./project-ports.ts";

/** How a project may use a database. */
export interface DatabaseGrant {
  /** Refuses statements that write, also where the configuration allows them. */
  readOnly?: boolean;
  /** The name of one of the database's `roles`, whose login is used instead of the database's own. */
  role?: string;
}

/** A limit is null where everything in the configuration may be used. */
export interface ConnectionView {
  databases: ReadonlyMap<string, DatabaseGrant> | null;
  models: readonly string[] | null;
  /** The names of the tools that may be called, by server; null for all tools of a server. */
  mcpServers: ReadonlyMap<string, readonly string[] | null> | null;
  secrets: readonly string[] | null;
  /** Patterns of private hosts. A host must match `http.allowed_hosts` of the configuration too. */
  privateHosts: readonly string[] | null;
  /** `hosts` are patterns of public hosts, for the policy `list`. The policy of the configuration holds as well. */
  publicHttp: { policy: HttpPublic; hosts: readonly string[] } | null;
  mailDomains: readonly string[] | null;
  chats: readonly string[] | null;
}

const EVERYTHING: ConnectionView = {
  databases: null,
  models: null,
  mcpServers: null,
  secrets: null,
  privateHosts: null,
  publicHttp: null,
  mailDomains: null,
  chats: null,
};

/** What a project that does not exist may use: nothing. */
export const NOTHING: ConnectionView = {
  databases: new Map(),
  models: [],
  mcpServers: new Map(),
  secrets: [],
  privateHosts: [],
  publicHttp: { policy: "none", hosts: [] },
  mailDomains: [],
  chats: [],
};

/** @returns what a project may use; null for everything */
export function viewOfProject(
  { connections, httpPublic }: Pick<ProjectRecord, "connections" | "httpPublic">,
  grants: readonly Pick<Grant, "kind" | "name" | "options">[],
): ConnectionView | null {
  if (connections === "all" && httpPublic === null) return null;
  const of = (kind: Grant["kind"]) => grants.filter((grant) => grant.kind === kind);
  const namesOf = (kind: Grant["kind"]): string[] => of(kind).map(({ name }) => name);
  const publicHttp = httpPublic === null ? null : { policy: httpPublic, hosts: namesOf("host") };
  if (connections === "all") return { ...EVERYTHING, publicHttp };
  return {
    databases: new Map(of("database").map(({ name, options }) => [name, databaseGrant(options)])),
    models: namesOf("model"),
    mcpServers: new Map(of("mcp_server").map(({ name, options }) => [name, toolsOf(options)])),
    secrets: namesOf("secret"),
    privateHosts: namesOf("host"),
    publicHttp,
    mailDomains: namesOf("mail"),
    chats: namesOf("chat"),
  };
}

const databaseGrant = (options: Grant["options"]): DatabaseGrant => ({
  ...(options?.["access"] === "read-only" && { readOnly: true }),
  ...(typeof options?.["role"] === "string" && { role: options["role"] }),
});

const toolsOf = (options: Grant["options"]): readonly string[] | null =>
  Array.isArray(options?.["tools"]) ? (options["tools"] as string[]) : null;

/** @returns the part of a view that a key with these limits may use; the view itself where the key has none */
export function viewOfKey(
  view: ConnectionView | null,
  limits: Pick<KeyLimits, "databases" | "models"> | null,
): ConnectionView | null {
  const { databases, models } = limits ?? {};
  if (databases === undefined && models === undefined) return view;
  const whole = view ?? EVERYTHING;
  return {
    ...whole,
    ...(databases !== undefined && {
      databases: new Map(
        databases.flatMap((name) => {
          const grant = whole.databases === null ? {} : whole.databases.get(name);
          return grant === undefined ? [] : [[name, grant] as const];
        }),
      ),
    }),
    ...(models !== undefined && {
      models: models.filter((name) => whole.models?.includes(name) !== false),
    }),
  };
}

/** A text that two views have in common only if they allow the same. */
export const viewKey = ({ databases, mcpServers, ...view }: ConnectionView): string =>
  canonicalJson({
    ...view,
    databases: databases && [...databases],
    mcpServers: mcpServers && [...mcpServers],
  });

/** @returns connections as if the configuration had only what the view allows; the very same ones without a view */
export const limitConnections = (
  connections: ConfiguredConnections,
  view: ConnectionView | null,
): Connections => (view === null ? connections : connections.limitedTo(view));
