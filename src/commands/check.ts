/** `millrace check`: checks the configuration, and the databases and models that it names. */
import { checkConfiguration } from "./doctor/configuration.ts";
import { checkConnections } from "./doctor/connections.ts";
import { checkLimits } from "./doctor/limits.ts";
import { checkSecrets } from "./doctor/secrets.ts";
import { hasErrors, printCheckResults } from "./doctor/check-result.ts";
import { CommandError, EXIT, type Io } from "./io.ts";

/** Prints a line for each check; the exit code is 3 if one found an error. `doctor` checks much more. */
export async function check(io: Io, options: { config?: string; json?: boolean }): Promise<void> {
  const { results, settings, config, secrets } = checkConfiguration(io.env, options.config);
  if (settings !== undefined && config !== undefined && secrets !== undefined) {
    results.push(...(await checkSecrets(config, secrets)));
    results.push(...(await checkConnections(config, settings, { callModels: false, thorough: false })));
    results.push(...(await checkLimits(settings, config.limits)));
    secrets.close();
  }
  if (options.json) io.out(`${JSON.stringify(results, null, 2)}\n`);
  else printCheckResults(io, results);
  if (hasErrors(results)) throw new CommandError("Some checks found errors; see above.", EXIT.config);
}
