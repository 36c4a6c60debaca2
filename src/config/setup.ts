/** Everything that is read at start: the environment, the files that it names, and the configuration. */
import { loadConfig, type LoadedConfig } from "./config-file.ts";
import { readEnvironment, type Settings } from "./environment.ts";

export interface ReadSetup extends Omit<LoadedConfig, "variables"> {
  settings: Settings;
}

/**
 * @param env the process's environment
 * @param configOption the value of --config
 * @returns the settings with the value of every variable that is needed; `warnings` are those of both
 * @throws ConfigError with every fault of the environment, else with every one of the configuration
 */
export function readSetup(
  env: Readonly<Record<string, string | undefined>>,
  configOption?: string,
): ReadSetup {
  const settings = readEnvironment(env, configOption);
  const { variables, warnings, ...loaded } = loadConfig(
    settings.configFile,
    settings.configRequired,
    settings.variables,
  );
  return { ...loaded, settings: { ...settings, variables }, warnings: [...settings.warnings, ...warnings] };
}
