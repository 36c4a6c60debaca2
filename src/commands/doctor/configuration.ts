/** Whether the environment and the configuration file can be read, and what is odd about them. */
import type { Config } from "../../../schemas/config.ts";
import { ConfigError, loadConfig } from "../../config/config-file.ts";
import { readEnvironment, type Settings } from "../../config/environment.ts";
import type { Io } from "../io.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: fault } = checkResultsOf("Configuration");

export interface CheckedConfiguration {
  results: CheckResult[];
  /** Undefined where the environment itself is not valid. */
  settings?: Settings;
  /** Undefined where it can't be used. */
  config?: Config;
}

/** @param file the value of --config */
export function checkConfiguration(env: Io["env"], file: string | undefined): CheckedConfiguration {
  let settings: Settings;
  try {
    settings = readEnvironment(env, file);
  } catch (error) {
    return { results: issuesOf(error) };
  }
  const odd = settings.warnings.map((it) =>
    warning("environment", it.replace(/^environment: /, ""), "Take it away, or write it as it is meant."),
  );
  try {
    const loaded = loadConfig(settings.configFile, settings.configRequired, settings.variables);
    return {
      settings: { ...settings, variables: loaded.variables },
      config: loaded.config,
      results: [
        ...odd,
        ok("configuration", loaded.file ?? "none, which is valid"),
        ...loaded.warnings.map((it) =>
          warning("configuration", it, "Set it where the service is started; what needs it can't run."),
        ),
      ],
    };
  } catch (error) {
    return { settings, results: [...odd, ...issuesOf(error)] };
  }
}

/** Also those of a variable come while the file that names it is read. */
function issuesOf(error: unknown): CheckResult[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.issues.map((it) => {
    const [, variable] = /^environment: (.*)$/s.exec(it) ?? [];
    return variable === undefined
      ? fault("configuration", it, "Mend the file at this place; config.example.yaml explains every key.")
      : fault("environment", variable, "Set the variable as it says, or take it away.");
  });
}
