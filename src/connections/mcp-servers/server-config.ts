/** A configured server, and whether it can be used: known without loading what speaks to it. */
import type { Config } from "../../../schemas/config.ts";
import { shownVariable } from "../../core/variables.ts";

export type ServerConfig = Config["mcp_servers"][number];
export type Environment = Readonly<Record<string, string | undefined>>;

/** Why a server can't be used: variables that it needs and that are not set. */
export function unusable({ key_var, env: wanted = {} }: ServerConfig, env: Environment): string | null {
  const names = [...(key_var === undefined ? [] : [key_var]), ...Object.values(wanted)];
  const unset = names.find((name) => !env[name]);
  return unset === undefined ? null : `${shownVariable(unset)} is not set`;
}
