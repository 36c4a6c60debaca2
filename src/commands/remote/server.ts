/** The server that commands work on instead of the state of this machine. */
import { ConfigError } from "../../config/config-file.ts";
import { resolveFileVariables } from "../../config/file-variables.ts";
import { isLoopback } from "../../core/hosts.ts";

export interface RemoteServer {
  url: string;
  key: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads MILLRACE_URL and MILLRACE_API_KEY. Messages never show the key.
 * @returns undefined if MILLRACE_URL is not set
 * @throws ConfigError
 */
export function remoteServer(env: Environment): RemoteServer | undefined {
  const url = env["MILLRACE_URL"];
  if (!url) return undefined;
  const { variables, issues } = resolveFileVariables(env, ["MILLRACE_API_KEY"]);
  const key = variables["MILLRACE_API_KEY"] ?? "";
  const found = [urlIssue(url), ...issues, issues.length > 0 ? undefined : keyIssue(key)].filter(
    (issue) => issue !== undefined,
  );
  if (found.length > 0) throw new ConfigError(found);
  return { url, key };
}

function urlIssue(text: string): string | undefined {
  const example = "such as https://millrace.example.com";
  if (!URL.canParse(text)) return `environment: MILLRACE_URL must be a URL, ${example}`;
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return `environment: MILLRACE_URL must begin with https:// or http://, ${example}`;
  if (username !== "" || password !== "")
    return "environment: MILLRACE_URL must not contain a user or a password. Set MILLRACE_API_KEY instead";
  if (search !== "" || hash !== "")
    return `environment: MILLRACE_URL must end with the host or a path, ${example}`;
  return undefined;
}

function keyIssue(key: string): string | undefined {
  if (key === "")
    return (
      "environment: MILLRACE_URL is set, so MILLRACE_API_KEY must be set too. Create a key in the web interface " +
      "(user menu, API Keys), or unset MILLRACE_URL to work on the state of this machine"
    );
  return /^[\x21-\x7e]+$/.test(key)
    ? undefined
    : "environment: MILLRACE_API_KEY contains a blank or another character that no key has (its value is not shown)";
}

/** A warning about a connection that others can read; undefined if nobody can. */
export function plainHttpWarning({ url }: Pick<RemoteServer, "url">): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname)) return undefined;
  return `Warning: MILLRACE_URL begins with http://, so the key and all data travel to ${hostname} unencrypted. Use https://.`;
}
