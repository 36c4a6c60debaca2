/**
 * The commands with their arguments and options. An implementation is loaded only when its command runs, so that
 * `--help` answers at once.
 */
import { Argument, Command } from "commander";
import { VERSION } from "../../app/build.ts";
import type { Shell } from "../completion.ts";
import { EXIT_HELP, type Io } from "../io.ts";
import { registerKeys, registerUsers } from "./accounts.ts";
import { registerArchives, registerStorage } from "./archives.ts";
import { registerBackfills } from "./backfills.ts";
import { registerAudit } from "./audit.ts";
import { registerDiagnostics } from "./diagnostics.ts";
import type { ProcessHost } from "./host.ts";
import { registerGrants } from "./grants.ts";
import { registerReviews } from "./reviews.ts";
import { registerApprovals } from "./approvals.ts";
import { registerInterruptions } from "./interruptions.ts";
import { registerProjects } from "./projects.ts";
import { registerRuns, registerTriggers, registerWorkflows } from "./runs.ts";
import { registerSubscriptions } from "./subscriptions.ts";
import { registerState } from "./state.ts";
import { registerServers } from "./servers.ts";

/** Builds the `millrace` command. Its errors are thrown, so that the caller chooses the exit code. */
export function createProgram(io: Io, host: ProcessHost): Command {
  const program = new Command("millrace")
    .description("A workflow service for LLM agents, scripts and people.")
    .version(VERSION, "-V, --version", "print the version")
    .showSuggestionAfterError(true)
    .configureHelp({ sortSubcommands: false })
    // `run` has a --version of its own: that of a workflow.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) })
    .addHelpText("after", HELP);
  registerServers(program, io, host);
  registerKeys(program, io, host);
  registerUsers(program, io);
  registerApprovals(program, io);
  registerInterruptions(program, io);
  registerReviews(program, io);
  registerProjects(program, io);
  registerGrants(program, io);
  registerSubscriptions(program, io);
  registerRuns(program, io, host);
  registerTriggers(program, io);
  registerBackfills(program, io);
  registerState(program, io);
  registerWorkflows(program, io, host);
  registerArchives(program, io, host);
  registerStorage(program, io, host);
  registerAudit(program, io);
  registerDiagnostics(program, io, host);
  program
    .command("completion")
    .description("print a script that completes commands and options in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish", "powershell"]))
    .action(async (shell: Shell) =>
      io.out((await import("../completion.ts")).completionScript(program, shell)),
    );
  return program;
}

const HELP = `
Examples:
  millrace start                       start both servers and print how to connect
  millrace run weekly-revenue --watch  run a workflow and watch its steps
  millrace keys create --name ci       create a key; standard output holds nothing but the key
${EXIT_HELP}

Environment:
  MILLRACE_STATE_DIR        state directory (default: ~/.millrace)
  MILLRACE_DATABASE_URL     PostgreSQL database that holds the state (default: SQLite in the state directory)
  MILLRACE_DATABASE_…       its password, the number of connections: see docs/operations.md
  MILLRACE_CONFIG           configuration file (default: config.yaml in the state directory)
  MILLRACE_HOST             address to listen on (default: 127.0.0.1)
  MILLRACE_BASE_URL         URL of the server, if people reach it by another name than localhost
  MILLRACE_MCP_URL          URL of the MCP server, if it is not port 8000 of that host
  MILLRACE_TRUSTED_PROXIES  addresses and ranges of proxies whose X-Forwarded-* headers are trusted
  MILLRACE_LOG_LEVEL        debug, info (default), warn, error or silent
  MILLRACE_METRICS_PORT     port of /metrics for Prometheus (default: no metrics)
  MILLRACE_METRICS_HOST     address of that port (default: 127.0.0.1)
  MILLRACE_ADMIN_EMAILS     with --auth-mode cognito or oidc: users who are admins, whatever their groups
  MILLRACE_COGNITO_…, MILLRACE_ALB_…, MILLRACE_OIDC_…
                            settings of these modes; doctor --auth-mode <mode> lists what is missing
  OTEL_…                    OpenTelemetry's own variables, which say where traces are sent (default: nowhere)
  <NAME>_FILE               absolute path of a file that holds the value, best for secrets
  NO_COLOR                  print no colours`;
