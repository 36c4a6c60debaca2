/** Options that several commands share. */
import { type Command, InvalidArgumentError, Option } from "commander";
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
