/** Options that several commands share. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { RunTrigger } from "../../../schemas/run.ts";
import type { AuthMode } from "../../../schemas/user.ts";
import type { Io } from "../io.ts";

/** An argument parser for integers from `min` to `max`. */
export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
  };

export const port = integer(0, 65_535);

function address(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("It must not be empty. Use 0.0.0.0 for all addresses of this machine.");
}

// commander reads an empty variable as a value, and an empty address means all addresses: so not with .env().
export const hostOption = ({ env }: Pick<Io, "env">, description: string): Option =>
  new Option("--host <address>", description)
    .default(env["MILLRACE_HOST"] || "127.0.0.1", "MILLRACE_HOST, else 127.0.0.1")
    .argParser(address);

export const configOption = (): Option =>
  new Option(
    "--config <path>",
    "configuration file (default: MILLRACE_CONFIG, else config.yaml in the state directory)",
  );

export const jsonOption = (description = "print JSON"): Option => new Option("--json", description);

/** The options of every command that listens on a port. */
export const addListenerOptions = (command: Command, io: Io, defaultPort: number): Command =>
  command
    .addOption(
      new Option("--port <int>", "port to listen on; 0 picks a free one")
        .default(defaultPort)
        .argParser(port),
    )
    .addOption(hostOption(io, "address to listen on"))
    .addOption(configOption())
    .addOption(
      new Option(
        "--drain-delay <seconds>",
        "after SIGTERM, keep serving for this long while /health reports draining",
      )
        .default(0)
        .argParser(integer(0, 3_600)),
    );

export const addMetricsOptions = (command: Command, servers = ""): Command =>
  command
    .addOption(
      new Option(
        "--metrics-port <int>",
        `port of /metrics for Prometheus${servers} (default: MILLRACE_METRICS_PORT, else no metrics)`,
      ).argParser(port),
    )
    .addOption(
      new Option(
        "--metrics-host <address>",
        "address of the metrics port, which needs no key (default: MILLRACE_METRICS_HOST, else 127.0.0.1)",
      ).argParser(address),
    );

export const workersOption = (): Option =>
  new Option("--workers <int>", "number of executor processes to start").default(1).argParser(integer(0, 64));

// Repeated from schemas/user.ts: --help must not wait until zod is loaded.
const AUTH_MODES: readonly AuthMode[] = ["built-in", "cognito", "oidc"];

export const authModeOption = (): Option =>
  new Option("--auth-mode <mode>", "how people sign in").choices(AUTH_MODES).default("built-in");

// Repeated from schemas/backtest-rule.ts, for the same reason.
export const MAX_BACKTEST_RUNS = 1_000;

// Repeated from schemas/run.ts, for the same reason.
const RUN_TRIGGERS: readonly RunTrigger[] = [
  "rest",
  "mcp",
  "cli",
  "web",
  "schedule",
  "webhook",
  "backfill",
  "workflow",
  "on_failure",
  "example",
  "backtest",
];

/** The filters of every command that lists runs. */
export const addRunFilter = (command: Command): Command =>
  command
    .option("--workflow <id>", "only runs of this workflow")
    .option("--project <id>", "only runs of this project")
    .option(
      "--status <status...>",
      "only runs with these statuses: queued, running, waiting, succeeded, failed, cancelled",
    );

/** The filters of commands that take all runs that fit. */
export const addFullRunFilter = (command: Command): Command =>
  addRunFilter(command)
    .addOption(new Option("--trigger <trigger>", "only runs started by this").choices(RUN_TRIGGERS))
    .option("--since <time>", "only runs created at or after this time or date, such as 2026-11-21")
    .option("--until <time>", "only runs created before this time or date");

/**
 * Refuses an option that only the parent command has, as an unknown option is refused: before the name of the subcommand, commander gives
 * options to the parent, and a filter that is ignored would take too many runs.
 * @returns the subcommand, whose `optsWithGlobals` has the options of both places
 */
export function withKnownOptions(command: Command): Command {
  const known = new Set(command.options.map((option) => option.attributeName()));
  for (let parent = command.parent; parent !== null; parent = parent.parent)
    for (const option of parent.options)
      if (!known.has(option.attributeName()) && parent.getOptionValue(option.attributeName()) !== undefined)
        command.error(`error: ${command.name()} has no option '${option.long}'`, {
          code: "commander.unknownOption",
        });
  return command;
}
