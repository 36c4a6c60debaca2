/** `millrace check`: whether the configuration, and the databases and models it names, can be used. */
import { lookAtConfiguration } from "./doctor/configuration.ts";
import { lookAtConnections } from "./doctor/connections.ts";
import { hasFault, printVerdicts } from "./doctor/verdict.ts";
import { CommandError, EXIT, type Io } from "./io.ts";

/** Prints a line per thing it looked at; ends with 3 when there is a fault. `doctor` looks at much more. */
export async function check(io: Io, options: { config?: string; json?: boolean }): Promise<void> {
  const { verdicts, settings, config } = lookAtConfiguration(io.env, options.config);
  if (settings !== undefined && config !== undefined)
    verdicts.push(...(await lookAtConnections(config, settings, { callModels: false, thorough: false })));
  if (options.json) io.out(`${JSON.stringify(verdicts, null, 2)}\n`);
  else printVerdicts(io, verdicts);
  if (hasFault(verdicts)) throw new CommandError("Not everything can be used; see above.", EXIT.config);
}
