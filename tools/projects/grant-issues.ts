/** Checks what is granted: names of the configuration, and options that its kind has. */
import { canonicalDomain } from "../../schemas/mail-address.ts";
import type { GrantKind } from "../../schemas/project.ts";
import type { Issue } from "../../schemas/problem.ts";
import type { Connections } from "../../src/core/connections.ts";
import { nearMatch } from "../../src/core/near-match.ts";
import type { ProjectRecord } from "../../src/core/project-ports.ts";

/** Options of a grant, as clients send them. */
interface GrantOptions {
  access?: "read-only" | undefined;
  role?: string | undefined;
  tools?: readonly string[] | undefined;
}

/** The part of `http` of the configuration that says which hosts there are. */
interface HttpSettings {
  allowed_hosts?: readonly string[];
  public?: string;
  public_hosts?: readonly string[];
}

interface RequestedGrant extends GrantOptions {
  kind: GrantKind;
  name: string;
}

const WORDS: Readonly<Record<GrantKind, string>> = {
  database: "a database",
  model: "a model",
  mcp_server: "an MCP server",
  secret: "a secret",
  host: "a host that the configuration (http) allows",
  mail: "a domain in mail.allowed_domains",
  chat: "a chat",
};

/** @param configured everything that can be granted */
export async function grantIssues(
  grant: RequestedGrant,
  configured: Connections,
  project: Pick<ProjectRecord, "httpPublic">,
): Promise<Issue[]> {
  const { kind, name } = grant;
  const names = namesOf(kind, configured, project);
  const callable = kind === "host" && !names.includes(name) ? await hostKind(name, configured) : "none";
  const isNeedless = callable === "public" && project.httpPublic !== "list";
  const isKnown =
    names.includes(kind === "mail" ? canonicalDomain(name) : name) || (callable !== "none" && !isNeedless);
  return [
    ...(isKnown
      ? []
      : [isNeedless ? needlessHost(name) : unknownName("name", `the name of ${WORDS[kind]}`, name, names)]),
    ...optionIssues(grant, isKnown ? configured : undefined),
  ];
}

const httpSettings = (configured: Pick<Connections, "configurationOf">): HttpSettings =>
  configured.configurationOf("http") ?? {};

function namesOf(
  kind: GrantKind,
  { databases, models, mcpServers, http, mailer, chats, ...all }: Connections,
  { httpPublic }: Pick<ProjectRecord, "httpPublic">,
): string[] {
  switch (kind) {
    case "database":
      return databases.list().map(({ name }) => name);
    case "model":
      return models.list().map(({ name }) => name);
    case "mcp_server":
      return mcpServers.list().map(({ name }) => name);
    case "secret":
      return http.secrets().map(({ name }) => name);
    case "host": {
      const settings = httpSettings(all);
      const isPublicListed = httpPublic === "list" && settings.public === "list";
      return [...(settings.allowed_hosts ?? []), ...(isPublicListed ? (settings.public_hosts ?? []) : [])];
    }
    case "mail":
      return [...mailer.allowedDomains()];
    case "chat":
      return chats.list().map(({ name }) => name);
  }
}

/** A host, or the names below one, with or without a port: as in http.allowed_hosts. */
const HOST =
  /^(?:(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,250}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$/;

/** What a host is that is not listed as it is written, but may be called: a part of an entry, or a public host. */
async function hostKind(name: string, { http, ...all }: Connections): Promise<"private" | "public" | "none"> {
  if (!HOST.test(name)) return "none";
  const listed = httpSettings(all).allowed_hosts ?? [];
  const host = name.replace(/^\*\./, "any.");
  for (const scheme of ["https", "http"]) {
    const url = URL.parse(`${scheme}://${host}/`);
    if (url === null) continue;
    const issues = await http.check({ url: url.href, method: null, secrets: [] });
    const isPrivate = issues.some(({ code }) => code === "private_host");
    if (issues.length === 0)
      return isLocalName(url.hostname) || isBelow(url.hostname, listed) ? "private" : "public";
    if (isPrivate) return "none";
  }
  return "none";
}

/** A public host is granted only for the policy `list`; else the grant would have no effect. */
const needlessHost = (name: string): Issue => ({
  path: "name",
  code: "not_allowed",
  message: `is ${name}, a public host, and http_public of this project is not list`,
  fix: "Set http_public of the project to list first (update_project, or millrace projects update <project> --http-public list). Until then no grant decides which public hosts it reaches.",
});

/** Whether a pattern such as `*.internal.test` covers a name. */
const isBelow = (hostname: string, patterns: readonly string[]): boolean =>
  patterns.some(
    (pattern) => pattern.startsWith("*.") && hostname.endsWith(pattern.slice(1).replace(/:\d+$/, "")),
  );

/** Whether an address is private by itself, so that it is allowed only if the configuration lists it. */
const isLocalName = (hostname: string): boolean =>
  /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[|localhost$)/.test(hostname);

function optionIssues(
  { kind, name, access, role, tools }: RequestedGrant,
  configured?: Connections,
): Issue[] {
  const only = (field: string, value: unknown, of: GrantKind): Issue[] =>
    value === undefined || kind === of
      ? []
      : [{ path: field, code: "not_allowed", message: `is only for the kind ${of}, not for ${kind}` }];
  const roles = configured?.databases.list().find((database) => database.name === name)?.roles ?? [];
  const isUnknownRole =
    kind === "database" && role !== undefined && configured !== undefined && !roles.includes(role);
  return [
    ...only("access", access, "database"),
    ...only("role", role, "database"),
    ...only("tools", tools, "mcp_server"),
    ...(isUnknownRole ? [unknownName("role", `one of the roles of the database ${name}`, role, roles)] : []),
  ];
}

function unknownName(path: string, what: string, name: string, known: readonly string[]): Issue {
  const near = nearMatch(name, known);
  return {
    path,
    code: "not_found",
    message: `is not ${what}, got ${name}`,
    ...(near === undefined ? { allowed: [...known] } : { did_you_mean: near }),
  };
}
