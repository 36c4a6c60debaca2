/** `millrace doctor`: looks at everything that an operator can get wrong, all at once, and changes nothing. */
import type { Health } from "../../../schemas/health.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { MINUTE, systemClock } from "../../core/clock.ts";
import { CommandError, EXIT, type Io } from "../io.ts";
import { checkAddresses, checkPort } from "./addresses.ts";
import { type CheckedConfiguration, checkConfiguration } from "./configuration.ts";
import { checkConnections } from "./connections.ts";
import { runInChild, type PartHost } from "./parts.ts";
import { checkClock, checkSignOn, checkVersions, type Runtime } from "./program.ts";
import { checkIdentityProvider } from "./provider.ts";
import { hasErrors, CHECK_TIMEOUT_MS, printCheckResults, type CheckResult } from "./check-result.ts";

export interface DoctorOptions {
  config?: string;
  json?: boolean;
  /** Really calls each model. */
  callModels?: boolean;
  /** Looks through the whole database, however long it takes. */
  full?: boolean;
  authMode: AuthMode;
  host: string;
  port: number;
  mcpPort: number;
}

export type DoctorHost = Pick<PartHost, "spawn"> & Runtime;

const FULL_MS = 30 * MINUTE;

type Look = () => CheckResult[] | Promise<CheckResult[]>;

/** Prints a verdict per thing, each with what to do; ends with 3 when there is a fault. */
export async function doctor(io: Io, host: DoctorHost, options: DoctorOptions): Promise<void> {
  const configured = checkConfiguration(io.env, options.config);
  const looks = looksAt(host, options, configured);
  const verdicts = (await Promise.all(looks.map(async (it) => it()))).flat();
  if (options.json) io.out(`${JSON.stringify(verdicts, null, 2)}\n`);
  else printCheckResults(io, verdicts);
  if (hasErrors(verdicts)) throw new CommandError("Not everything is in order; see above.", EXIT.config);
}

/** All that is looked at, in the order in which it is told; whatever is to be looked at too is added here. */
function looksAt(host: DoctorHost, options: DoctorOptions, configured: CheckedConfiguration): Look[] {
  const { results, settings, config } = configured;
  const { authMode } = options;
  const healths: Health[] = [];
  const found = (health: Health): void => void healths.push(health);
  const ports = [
    checkPort("serve", options.host, options.port, found),
    checkPort("mcp-sse", options.host, options.mcpPort, found),
  ];
  const program: Look[] = [
    () => checkVersions(host),
    () => checkClock(systemClock, () => performance.now()),
    () => results,
    ...ports.map((it) => () => it),
  ];
  if (settings === undefined) return program;
  const { stateDir } = settings;
  const installation: Look[] = [
    () => checkAddresses(settings, options.host, authMode),
    () => checkSignOn(authMode, settings),
    () => checkIdentityProvider(authMode, settings),
    async () => {
      // What is missing tells more once it is known who runs with it.
      await Promise.all(ports);
      const unavailable = healths.some(({ status }) => status === "unavailable");
      return runInChild(host, "state", stateDir, CHECK_TIMEOUT_MS, { authMode, unavailable });
    },
    () => runInChild(host, "locks", stateDir, CHECK_TIMEOUT_MS),
    () =>
      options.full
        ? runInChild(host, "integrity-full", stateDir, FULL_MS)
        : runInChild(host, "integrity", stateDir, CHECK_TIMEOUT_MS),
  ];
  const connections: Look[] =
    config === undefined
      ? []
      : [
          () =>
            checkConnections(config, settings, {
              callModels: options.callModels === true,
              thorough: true,
              links: authMode === "built-in",
            }),
        ];
  return [...program, ...installation, ...connections];
}
