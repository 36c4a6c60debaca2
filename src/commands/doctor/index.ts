/** `millrace doctor`: looks at everything that an operator can get wrong, all at once, and changes nothing. */
import type { Health } from "../../../schemas/health.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { MINUTE, systemClock } from "../../core/clock.ts";
import { CommandError, EXIT, type Io } from "../io.ts";
import { lookAtAddresses, lookAtPort } from "./addresses.ts";
import { type Configured, lookAtConfiguration } from "./configuration.ts";
import { lookAtConnections } from "./connections.ts";
import { inChild, type PartHost } from "./parts.ts";
import { lookAtClock, lookAtSignOn, lookAtVersions, type Runtime } from "./program.ts";
import { lookAtProvider } from "./provider.ts";
import { hasFault, LOOK_MS, printVerdicts, type Verdict } from "./verdict.ts";

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

type Look = () => Verdict[] | Promise<Verdict[]>;

/** Prints a verdict per thing, each with what to do; ends with 3 when there is a fault. */
export async function doctor(io: Io, host: DoctorHost, options: DoctorOptions): Promise<void> {
  const configured = lookAtConfiguration(io.env, options.config);
  const looks = looksAt(host, options, configured);
  const verdicts = (await Promise.all(looks.map(async (it) => it()))).flat();
  if (options.json) io.out(`${JSON.stringify(verdicts, null, 2)}\n`);
  else printVerdicts(io, verdicts);
  if (hasFault(verdicts)) throw new CommandError("Not everything is in order; see above.", EXIT.config);
}

/** All that is looked at, in the order in which it is told; whatever is to be looked at too is added here. */
function looksAt(host: DoctorHost, options: DoctorOptions, configured: Configured): Look[] {
  const { verdicts, settings, config } = configured;
  const { authMode } = options;
  const healths: Health[] = [];
  const found = (health: Health): void => void healths.push(health);
  const ports = [
    lookAtPort("serve", options.host, options.port, found),
    lookAtPort("mcp-sse", options.host, options.mcpPort, found),
  ];
  const program: Look[] = [
    () => lookAtVersions(host),
    () => lookAtClock(systemClock, () => performance.now()),
    () => verdicts,
    ...ports.map((it) => () => it),
  ];
  if (settings === undefined) return program;
  const { stateDir } = settings;
  const installation: Look[] = [
    () => lookAtAddresses(settings, options.host, authMode),
    () => lookAtSignOn(authMode, settings),
    () => lookAtProvider(authMode, settings),
    async () => {
      // What is missing tells more once it is known who runs with it.
      await Promise.all(ports);
      const unavailable = healths.some(({ status }) => status === "unavailable");
      return inChild(host, "state", stateDir, LOOK_MS, { authMode, unavailable });
    },
    () => inChild(host, "locks", stateDir, LOOK_MS),
    () =>
      options.full
        ? inChild(host, "integrity-full", stateDir, FULL_MS)
        : inChild(host, "integrity", stateDir, LOOK_MS),
  ];
  const connections: Look[] =
    config === undefined
      ? []
      : [
          () =>
            lookAtConnections(config, settings, {
              callModels: options.callModels === true,
              thorough: true,
              links: authMode === "built-in",
            }),
        ];
  return [...program, ...installation, ...connections];
}
