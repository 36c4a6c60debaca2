/** What connections log in with: the names of the variables, and where their values are sent. */
import type { SecretUse } from "../core/usage-ports.ts";
import type { ConnectionConfig } from "./limit-config.ts";

/** The hosts of the vendors' own APIs, where a model has no `base_url`. */
const VENDOR_HOSTS: Readonly<Record<string, string>> = {
  openai: "api.openai.com",
  anthropic: "api.anthropic.com",
  google: "generativelanguage.googleapis.com",
  mistral: "api.mistral.ai",
};

/** The secrets that a call of a connection sends: of a resource (`database:shop`), or of `mail`. */
export function loginsOf(config: ConnectionConfig, entry: string): SecretUse[] {
  const [kind, name] = entry.split(/:(.*)/s);
  const named = <T extends { name: string }>(entries: readonly T[]): T | undefined =>
    entries.find((candidate) => candidate.name === name);
  const uses = (variables: readonly (string | undefined)[], host: string): SecretUse[] =>
    variables.flatMap((secret) => (secret === undefined ? [] : [{ secret, host, connection: entry }]));
  switch (kind) {
    case "database": {
      const database = named(config.databases);
      return uses([database?.password_var], hostOf(database?.dataset));
    }
    case "model": {
      const model = named(config.models);
      return uses([model?.key_var], hostOf(model?.base_url) || (VENDOR_HOSTS[model?.vendor ?? ""] ?? ""));
    }
    case "mcp_server": {
      const server = named(config.mcp_servers);
      // A command gets them in its environment.
      return uses(
        [server?.key_var, ...Object.values(server?.env ?? {})],
        hostOf(server?.url) || "this machine",
      );
    }
    case "mail": {
      const smtp = config.authentication.basic;
      return smtp === undefined
        ? []
        : uses([smtp.smtp_password_var], `${smtp.smtp_server}:${smtp.smtp_port}`);
    }
    default:
      return [];
  }
}

const hostOf = (url: string | undefined): string => (url === undefined ? "" : (URL.parse(url)?.host ?? ""));
