/** `millrace doctor`: checks everything that can be wrong with an installation, and changes nothing. */
import type { Health } from "../../../schemas/health.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import { MINUTE, SECOND, systemClock } from "../../core/clock.ts";
import { CommandError, EXIT, type Io } from "../io.ts";
import { checkAddresses, checkPort } from "./addresses.ts";
import { type CheckedConfiguration, checkConfiguration } from "./configuration.ts";
import { checkConnections } from "./connections.ts";
import { runInChild, type PartHost } from "./parts.ts";
import { checkPostgres } from "./postgres.ts";
import { checkClock, checkSignOn, checkVersions, type Runtime } from "./program.ts";
import { checkProxies } from "./outgoing.ts";
import { checkIdentityProvider } from "./provider.ts";
import { outgoingFetch } from "../../core/outgoing-agent.ts";
import { checkPublicMcp } from "./public-mcp.ts";
import { checkSecrets } from "./secrets.ts";
import { type UnfitSecrets, unfitSecrets } from "./signatures.ts";
import {
  hasErrors,
  CHECK_TIMEOUT_MS,
  printCheckResults,
  type CheckResult,
  runCheck,
  STATE,
} from "./check-result.ts";

export interface DoctorOptions {
  config?: string;
  json?: boolean;
  /** Sends a request to each model. */
  callModels?: boolean;
  /** Checks the whole database, which can take up to 30 minutes. */
  full?: boolean;
  authMode: AuthMode;
  host: string;
  port: number;
  mcpPort: number;
}

export type DoctorHost = Pick<PartHost, "spawn"> & Runtime;

/** Time limit of the full integrity check, in milliseconds. */
const FULL_INTEGRITY_LIMIT_MS = 30 * MINUTE;
/** Time limit of the checks of a PostgreSQL database, which wait for heartbeats too, in milliseconds. */
const POSTGRES_TIMEOUT_MS = 30 * SECOND;

/** Prints the result of each check, with a fix for each warning and error; the exit code is 3 if there is an error. */
export async function doctor(io: Io, host: DoctorHost, options: DoctorOptions): Promise<void> {
  const configured = checkConfiguration(io.env, options.config);
  const checks = checksFor(host, options, configured);
  const results = (await Promise.all(checks.map(async (check) => check()))).flat();
  configured.secrets?.close();
  if (options.json) io.out(`${JSON.stringify(results, null, 2)}\n`);
  else printCheckResults(io, results);
  if (hasErrors(results)) throw new CommandError("Some checks found errors; see above.", EXIT.config);
}

type Check = () => CheckResult[] | Promise<CheckResult[]>;

/** All checks, in the order in which their results are printed. */
function checksFor(host: DoctorHost, options: DoctorOptions, configured: CheckedConfiguration): Check[] {
  const { results, settings, config, secrets } = configured;
  const { authMode } = options;
  const healths: Health[] = [];
  const onHealth = (health: Health): void => void healths.push(health);
  const ports = [
    checkPort("serve", options.host, options.port, onHealth),
    checkPort("mcp-sse", options.host, options.mcpPort, onHealth),
  ];
  const program: Check[] = [
    () => checkVersions(host),
    () => checkClock(systemClock, () => performance.now()),
    () => results,
    ...(config === undefined || secrets === undefined ? [] : [() => checkSecrets(config, secrets)]),
    ...ports.map((result) => () => result),
  ];
  if (settings === undefined) return program;
  const installation: Check[] = [
    () => checkAddresses(settings, options.host, authMode),
    () => checkPublicMcp(settings, outgoingFetch(settings.proxies)),
    () => checkSignOn(authMode, settings),
    () => checkIdentityProvider(authMode, settings),
    () => checkProxies(settings, config?.http.proxy_resolves ?? false),
    ...stateChecks(host, options, configured, async () => {
      await Promise.all(ports);
      return healths.some(({ status }) => status === "unavailable");
    }),
  ];
  const connections: Check[] =
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

/** @param isUnavailable whether a running server reports that its state cannot be reached */
function stateChecks(
  host: DoctorHost,
  { authMode, full = false }: DoctorOptions,
  { settings, config, secrets }: CheckedConfiguration,
  isUnavailable: () => Promise<boolean>,
): Check[] {
  const { stateDir, database } = settings!;
  const limits = config?.limits;
  const readUnfit = async (): Promise<UnfitSecrets | undefined> =>
    config === undefined || secrets === undefined ? undefined : unfitSecrets(config, secrets);
  if (database !== undefined)
    return [
      () =>
        runCheck(
          { group: STATE, check: "database", fix: "Check that the server runs and is not overloaded." },
          async () => checkPostgres(database, { authMode, limits, unfitSecrets: await readUnfit(), full }),
          full ? FULL_INTEGRITY_LIMIT_MS : POSTGRES_TIMEOUT_MS,
        ),
    ];
  return [
    async () => {
      // A missing state is an error if a server is running with it.
      const unavailable = await isUnavailable();
      const freeDisk = limits?.free_disk;
      return runInChild(host, "state", stateDir, CHECK_TIMEOUT_MS, {
        authMode,
        unavailable,
        freeDisk,
        limits,
        unfitSecrets: await readUnfit(),
      });
    },
    () => runInChild(host, "locks", stateDir, CHECK_TIMEOUT_MS),
    () =>
      full
        ? runInChild(host, "integrity-full", stateDir, FULL_INTEGRITY_LIMIT_MS)
        : runInChild(host, "integrity", stateDir, CHECK_TIMEOUT_MS),
    () =>
      full
        ? runInChild(host, "audit-full", stateDir, FULL_INTEGRITY_LIMIT_MS)
        : runInChild(host, "audit", stateDir, CHECK_TIMEOUT_MS),
  ];
}
