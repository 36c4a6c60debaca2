/** A configured server, and whether it can be used: known without loading what speaks to it. */
import type { Config } from "../../../schemas/config.ts";
import { describeVariable } from "../../core/variables.ts";

export type ServerConfig = Config["mcp_servers"][number];
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of ours that a server is handed: its environment as a child, of which one over HTTP gets the key. */
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

/** Why a server can't be used: variables that it needs and that are not set. */
export function unusableReason({ key_var, env: wanted = {} }: ServerConfig, env: Environment): string | null {
  const names = [...(key_var === undefined ? [] : [key_var]), ...Object.values(wanted)];
  const unset = names.find((name) => !env[name]);
  return unset === undefined ? null : `${describeVariable(unset)} is not set`;
}
