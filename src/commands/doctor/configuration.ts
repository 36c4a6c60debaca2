/** Checks the environment and the configuration file. */
import type { Config } from "../../../schemas/config.ts";
import { ConfigError, loadConfig } from "../../config/config-file.ts";
import type { Secrets } from "../../config/secrets.ts";
import { readEnvironment, type Settings } from "../../config/environment.ts";
import type { Io } from "../io.ts";
import { type CheckResult, checkResultsOf } from "./check-result.ts";

const { ok, warning, error: failed } = checkResultsOf("Configuration");

export interface CheckedConfiguration {
  results: CheckResult[];
  /** Undefined if the environment is not valid. */
  settings?: Settings;
  /** Undefined if the configuration is not valid. */
  config?: Config;
  /** The same. */
  secrets?: Secrets;
}

/** @param file the value of --config */
export function checkConfiguration(env: Io["env"], file: string | undefined): CheckedConfiguration {
  let settings: Settings;
  try {
    settings = readEnvironment(env, file);
  } catch (error) {
    return { results: issuesOf(error) };
  }
  const warnings = settings.warnings.map((message) =>
    warning("environment", message.replace(/^environment: /, ""), "Remove the variable, or correct it."),
  );
  try {
    const loaded = loadConfig(settings.configFile, settings.configRequired, env);
    return {
      settings: { ...settings, secrets: loaded.secrets },
      config: loaded.config,
      secrets: loaded.secrets,
      results: [
        ...warnings,
        ok("configuration", loaded.file ?? "no file, which is valid"),
        ...loaded.warnings.map((message) =>
          warning("configuration", message, "Correct the entry. Workflows that need it cannot run."),
        ),
      ],
    };
  } catch (error) {
    return { settings, results: [...warnings, ...issuesOf(error)] };
  }
}

/** Issues of variables can also appear while the configuration file that names them is read. */
function issuesOf(error: unknown): CheckResult[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.issues.map((issue) => {
    const [, variable] = /^environment: (.*)$/s.exec(issue) ?? [];
    return variable === undefined
      ? failed(
          "configuration",
          issue,
          "Correct the file at this place. config.example.yaml explains every key.",
        )
      : failed("environment", variable, "Correct the variable, or remove it.");
  });
}
