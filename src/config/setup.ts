/** Reads everything that is needed at start: the environment, the files that it names, and the configuration. */
import { loadConfig, type LoadedConfig } from "./config-file.ts";
import { readEnvironment, type Settings } from "./environment.ts";

export interface ReadSetup extends Omit<LoadedConfig, "missing"> {
  settings: Settings;
}

/**
 * Reads the settings and the configuration.
 * @param env the environment of the process
 * @param configOption the value of --config
 * @returns the settings with the secrets that the configuration names; `warnings` are those of both
 * @throws ConfigError with all issues of the environment, or else of the configuration
 */
export function readSetup(
  env: Readonly<Record<string, string | undefined>>,
  configOption?: string,
): ReadSetup {
  const settings = readEnvironment(env, configOption);
  const { missing, ...loaded } = loadConfig(settings.configFile, settings.configRequired, env);
  const { secrets, warnings } = loaded;
  return {
    ...loaded,
    settings: { ...settings, secrets },
    warnings: [...settings.warnings, ...warnings, ...missing],
  };
}
