/** The configuration of a server and whether it can be used, without loading the MCP SDK. */
import type { Config } from "../../../schemas/config.ts";
import { describeVariable } from "../../core/variables.ts";

export type ServerConfig = Config["mcp_servers"][number];
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that a server gets: the environment of a child process; over HTTP only the key is sent. */
export function serverVariables(
  { key_var, env: wanted = {} }: ServerConfig,
  env: Environment,
): Record<string, string> {
  return Object.fromEntries(
    [
      ...(key_var === undefined ? [] : [[key_var, env[key_var]] as const]),
      ...Object.entries(wanted).map(([name, variable]) => [name, env[variable]] as const),
    ].filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** Why a server cannot be used: a variable that it needs is not set. */
export function unusableReason({ key_var, env: wanted = {} }: ServerConfig, env: Environment): string | null {
  const names = [...(key_var === undefined ? [] : [key_var]), ...Object.values(wanted)];
  const unset = names.find((name) => !env[name]);
  return unset === undefined ? null : `${describeVariable(unset)} is not set`;
}
