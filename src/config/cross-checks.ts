/**
 * Checks that involve several keys: duplicate names, references to missing entries. They run on the raw file, so that
 * their issues are reported together with all others.
 */
import type { LocatedIssue } from "../core/issues.ts";
import { nearMatch } from "../core/near-match.ts";

const SERVERS: ReadonlySet<unknown> = new Set(["postgresql", "mysql", "mariadb"]);

type Entry = Readonly<Record<string, unknown>>;

/** Returns the issues of a configuration, which may be malformed in other ways. */
export function crossChecks(raw: unknown): LocatedIssue[] {
  const root = entry(raw);
  return [
    ...["databases", "models", "mcp_servers", "secrets"].flatMap((list) =>
      duplicates([list], "name", entries(root[list])),
    ),
    ...duplicates(["http", "hosts"], "host", entries(entry(root["http"])["hosts"])),
    ...danglingDefault(root),
    ...unusedPublicHosts(entry(root["http"])),
    ...entries(root["databases"]).flatMap(needsServerUrl),
    ...entries(root["databases"]).flatMap(roleIssues),
    ...entries(root["models"]).flatMap(needsBaseUrl),
    ...entries(root["models"]).flatMap(({ base_url: url }, index) =>
      withoutPassword(url, ["models", index, "base_url"], "key_var"),
    ),
    ...entries(root["mcp_servers"]).flatMap(needsCommandOrUrl),
    ...entries(root["mcp_servers"]).flatMap(({ url }, index) =>
      withoutPassword(url, ["mcp_servers", index, "url"], "key_var"),
    ),
  ];
}

const entry = (value: unknown): Entry =>
  typeof value === "object" && value !== null ? (value as Entry) : {};
const entries = (value: unknown): Entry[] => (Array.isArray(value) ? value.map(entry) : []);

function duplicates(list: PropertyKey[], key: string, all: readonly Entry[]): LocatedIssue[] {
  return all.flatMap(({ [key]: value }, index) =>
    typeof value === "string" && all.findIndex((other) => other[key] === value) < index
      ? issue([...list, index, key], "duplicate", `must be unique, but an earlier entry has the same ${key}`)
      : [],
  );
}

function danglingDefault(root: Entry): LocatedIssue[] {
  const chosen = entry(root["defaults"])["database"];
  const allowed = entries(root["databases"]).map(({ name }) => String(name));
  if (typeof chosen !== "string" || allowed.includes(chosen)) return [];
  const near = nearMatch(chosen, allowed);
  return issue(["defaults", "database"], "dangling_reference", "must be the name of an entry in databases", {
    allowed,
    ...(near !== undefined && { did_you_mean: near }),
  });
}

/** A list of hosts would suggest that no others are reached. */
function unusedPublicHosts({ public: hosts, public_hosts: listed }: Entry): LocatedIssue[] {
  return hosts !== "list" && Array.isArray(listed) && listed.length > 0
    ? issue(
        ["http", "public_hosts"],
        "invalid",
        "has no effect unless http.public is list. Set http.public to list, or remove public_hosts",
      )
    : [];
}

function needsServerUrl({ type, dataset }: Entry, index: number): LocatedIssue[] {
  if (!SERVERS.has(lowerCase(type)) || typeof dataset !== "string") return [];
  const url = URL.parse(dataset);
  const path = ["databases", index, "dataset"];
  if (url === null)
    return issue(path, "wrong_format", "must be a URL, such as postgresql://user@host:5432/name");
  return withoutPassword(dataset, path, "password_var");
}

/** Files have no logins, and a role is named by its name. */
function roleIssues({ type, roles }: Entry, index: number): LocatedIssue[] {
  if (roles === undefined) return [];
  const path = ["databases", index, "roles"];
  if (!SERVERS.has(lowerCase(type)))
    return issue(
      path,
      "not_allowed",
      `must be left out: a ${String(lowerCase(type))} file has no logins. Remove roles, or grant the database with access: read-only`,
    );
  const names = entries(roles).map(({ name }) => name);
  return names.flatMap((name, at) =>
    typeof name === "string" && names.indexOf(name) < at
      ? issue([...path, at, "name"], "duplicate", "must be unique, but an earlier role has the same name")
      : [],
  );
}

/** URLs are displayed, for example in lists and by doctor, so they must not hold secrets. */
function withoutPassword(text: unknown, path: PropertyKey[], variable: string): LocatedIssue[] {
  const url = typeof text === "string" ? URL.parse(text) : null;
  return url === null || url.password === ""
    ? []
    : issue(
        path,
        "holds_secret",
        `must not contain the password. Put it into a variable, and name that with ${variable}`,
      );
}

/** The schema accepts types and vendors in any case. */
const lowerCase = (value: unknown): unknown => (typeof value === "string" ? value.toLowerCase() : value);

function needsBaseUrl(model: Entry, index: number): LocatedIssue[] {
  return lowerCase(model["vendor"]) === "openai-compatible" && model["base_url"] === undefined
    ? issue(["models", index], "missing", "must have base_url, because its vendor is openai-compatible")
    : [];
}

function needsCommandOrUrl(server: Entry, index: number): LocatedIssue[] {
  return (server["command"] === undefined) === (server["url"] === undefined)
    ? issue(["mcp_servers", index], "invalid", "must have either command or url")
    : [];
}

const issue = (path: PropertyKey[], code: string, message: string, more = {}): LocatedIssue[] => [
  { path, issue: { path: "", code, message, ...more } },
];
