/** The configuration of a server and whether it can be used, without loading the MCP SDK. */
import type { Config } from "../../../schemas/config.ts";
import type { SecretSource } from "../../core/secret-source.ts";

export type ServerConfig = Config["mcp_servers"][number];

/** The NAMES of the variables whose values a server gets. */
export const serverSecrets = ({ key_var, env = {} }: ServerConfig): string[] => [
  ...(key_var === undefined ? [] : [key_var]),
  ...Object.values(env),
];

/** The variables that a server gets: the environment of a child process; over HTTP only the key is sent. */
export function serverVariables(
  { key_var, env: wanted = {} }: ServerConfig,
  secrets: SecretSource,
): Record<string, string> {
  return Object.fromEntries(
    [
      ...(key_var === undefined ? [] : [[key_var, secrets.get(key_var)] as const]),
      ...Object.entries(wanted).map(([name, variable]) => [name, secrets.get(variable)] as const),
    ].filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** Why a server cannot be used: a variable that it needs has no value. */
export const unusableReason = (server: ServerConfig, secrets: SecretSource): string | null =>
  serverSecrets(server)
    .map((variable) => secrets.missingReason(variable))
    .find((reason) => reason !== null) ?? null;
