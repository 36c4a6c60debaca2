/** `millrace check`: whether the configuration, and the databases and models it names, can be used. */
import { checkConfiguration } from "./doctor/configuration.ts";
import { checkConnections } from "./doctor/connections.ts";
import { hasErrors, printCheckResults } from "./doctor/check-result.ts";
import { CommandError, EXIT, type Io } from "./io.ts";

/** Prints a line per thing it looked at; ends with 3 when there is a fault. `doctor` looks at much more. */
export async function check(io: Io, options: { config?: string; json?: boolean }): Promise<void> {
  const { results, settings, config } = checkConfiguration(io.env, options.config);
  if (settings !== undefined && config !== undefined)
    results.push(...(await checkConnections(config, settings, { callModels: false, thorough: false })));
  if (options.json) io.out(`${JSON.stringify(results, null, 2)}\n`);
  else printCheckResults(io, results);
  if (hasErrors(results)) throw new CommandError("Not everything can be used; see above.", EXIT.config);
}
