#!/usr/bin/env node
/** The command line; the only file that touches the process. */
import { fork } from "node:child_process";
import { Command, InvalidArgumentError, Option } from "commander";
import { VERSION } from "./app/build.ts";
import { type Io, EXIT, EXIT_HELP, describeError, sanitizeForTerminal } from "./commands/io.ts";
import type { AuthMode } from "../schemas/user.ts";

// What is made here holds the digests of keys and who did what: for this user only.
process.umask(0o077);

let leaving = false;
const io: Io = {
  out: (text) => void process.stdout.write(process.stdout.isTTY ? sanitizeForTerminal(text) : text),
  err: (text) => void process.stderr.write(process.stderr.isTTY ? sanitizeForTerminal(text) : text),
  // Up to the first of them, and over all that was written there.
  eraseLines: (lines) => void process.stderr.write(`\u001b[${lines}A\u001b[J`),
  terminal: process.stdout.isTTY,
  errTerminal: process.stderr.isTTY,
  env: process.env,
  onExit: (last) => void process.on("exit", last),
  exitWhenDone: () => (leaving = true),
};

function integer(name: string, min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`${name} must be a whole number from ${min} to ${max}.`);
    return value;
  };
}

function address(text: string): string {
  if (text.trim() === "")
    throw new InvalidArgumentError("Name an address; 0.0.0.0 is every one of this machine.");
  return text;
}

const port = integer("The port", 0, 65_535);

const hostOption = (what: string): Option =>
  // Not commander's own reading of the variable: to that an empty one is a value, and means every address.
  new Option("--host <address>", `${what} (else MILLRACE_HOST)`)
    .default(process.env["MILLRACE_HOST"] || "127.0.0.1")
    .argParser(address);

const listenerOptions = (command: Command, defaultPort: number): Command =>
  command
    .addOption(
      new Option("--port <int>", "the port to listen on; 0 takes a free one")
        .default(defaultPort)
        .argParser(port),
    )
    .addOption(hostOption("the address to listen on"))
    .addOption(
      new Option(
        "--config <path>",
        "the configuration file (else MILLRACE_CONFIG, else config.yaml in the state directory)",
      ),
    )
    .addOption(
      new Option("--drain-delay <seconds>", "go on serving for so long after SIGTERM, already not healthy")
        .default(0)
        .argParser(integer("The delay", 0, 3_600)),
    );

const metricsOptions = (command: Command, which = "the port"): Command =>
  command
    .addOption(
      new Option(
        "--metrics-port <int>",
        `${which} that Prometheus reads /metrics at (else MILLRACE_METRICS_PORT, else none)`,
      ).argParser(port),
    )
    .addOption(
      new Option(
        "--metrics-host <address>",
        "the address of that port (else MILLRACE_METRICS_HOST, else 127.0.0.1); it asks for no key",
      ).argParser(address),
    );

const workers = (): Option =>
  new Option("--workers <int>", "how many executor processes it starts; 0 for none")
    .default(1)
    .argParser(integer("The number of workers", 0, 64));

// Written out: whoever asks for help shall not wait for schemas to be read.
const AUTH_MODES: readonly AuthMode[] = ["built-in", "cognito", "oidc"];

const authMode = (): Option =>
  new Option("--auth-mode <mode>", "how people sign in").choices(AUTH_MODES).default("built-in");

const program = new Command("millrace")
  .description(
    "Workflows for agents, scripts and people: written once, checked, and run the same way each time.",
  )
  .version(VERSION, "-V, --version", "print the version")
  .showSuggestionAfterError(true)
  .configureHelp({ sortSubcommands: false })
  // So that a command can have a --version of its own: a workflow's.
  .enablePositionalOptions()
  .exitOverride()
  .addHelpText(
    "after",
    `
Begin with:
  millrace start                       both servers, and what to paste
  millrace run weekly-revenue --watch  a run, with its steps
  millrace keys create --name ci       a key, alone on standard output
${EXIT_HELP}

Environment:
  MILLRACE_STATE_DIR        where everything is kept (~/.millrace)
  MILLRACE_CONFIG           the configuration file
  MILLRACE_HOST             the address to listen on (127.0.0.1)
  MILLRACE_BASE_URL         the URL people reach the server by, when it is not localhost
  MILLRACE_MCP_URL          the URL agents reach the MCP server by, when it is not port 8000 of that host
  MILLRACE_TRUSTED_PROXIES  addresses and ranges whose X-Forwarded-* headers count
  MILLRACE_LOG_LEVEL        debug, info (default), warn, error, silent
  MILLRACE_METRICS_PORT     the port that Prometheus reads /metrics at (none)
  MILLRACE_METRICS_HOST     the address of that port (127.0.0.1)
  MILLRACE_ADMIN_EMAILS     who is an admin with --auth-mode cognito or oidc, whatever their groups say
  MILLRACE_COGNITO_…, MILLRACE_ALB_…, MILLRACE_OIDC_…
                            what those modes stand on: doctor --auth-mode <mode> names what is missing
  OTEL_…                    where traces go, by OpenTelemetry's own variables (nowhere)
  <NAME>_FILE               the absolute path of a file with the value, for secrets above all
  NO_COLOR                  no colours`,
  );

metricsOptions(
  listenerOptions(program.command("start").description("run both servers side by side"), 3000),
  "the port of serve (mcp-sse takes the next one)",
)
  .addOption(workers())
  .addOption(new Option("--mcp-port <int>", "the port of the MCP server").default(8000).argParser(port))
  .addOption(authMode())
  .action(async (options) => {
    const { start } = await import("./commands/start.ts");
    await start(io, { spawn: startAgain, onStop }, options);
  });

metricsOptions(listenerOptions(program.command("serve").description("run the web and API server"), 3000))
  .addOption(workers())
  .addOption(authMode())
  .addOption(new Option("--mcp-port <int>").default(8000).argParser(port).hideHelp())
  // A channel to a parent alone says nothing: that may be what has found a newer Node to run this with.
  .addOption(new Option("--of-start").hideHelp())
  .action(async (options) => {
    const { serve } = await import("./commands/listeners.ts");
    await serve(io, { onStop, ready: send, spawn: startAgain }, options);
  });

metricsOptions(
  listenerOptions(program.command("mcp-sse").description("run the MCP server (/mcp and /sse)"), 8000),
)
  .addOption(workers())
  .action(async (options) => {
    const { mcpSse } = await import("./commands/listeners.ts");
    await mcpSse(io, { onStop, ready: send, spawn: startAgain }, options);
  });

metricsOptions(
  program
    .command("worker")
    .description(
      "run an executor alone, beside listeners that were started with --workers 0 or with too few",
    ),
)
  .option("--config <path>", "the configuration file")
  .addOption(
    new Option("--slots <int>", "how many steps run at a time")
      .default(32)
      .argParser(integer("The number of slots", 1, 1_000)),
  )
  .addOption(new Option("--id <id>").hideHelp())
  .addOption(new Option("--metered").hideHelp())
  .addOption(new Option("--lease <ms>").argParser(integer("The lease", 100, 600_000)).hideHelp())
  .action(async (options) => {
    const { worker } = await import("./commands/worker.ts");
    await worker(io, { onStop: soon, onMessage, send }, options);
  });

const keys = program.command("keys").description("make, list, rotate and revoke API keys");

keys
  .command("create")
  .description("make a key and print it, this one time")
  .requiredOption("--name <name>", "what it is for")
  .option("--expires <date>", "its last day (2027-01-31, UTC) or moment (2027-01-31T12:00:00Z)")
  .option("--scope <scope...>", "what it may do: read, write, run, approve, admin (default: read write run)")
  .option("--json", "print it with its details as JSON")
  .action(async (options) => (await import("./commands/keys.ts")).createApiKey(io, options));

keys
  .command("list")
  .description("list keys (never their values)")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./commands/keys.ts")).listApiKeys(io, options));

keys
  .command("rotate")
  .description("make a successor; the old key lives on for the overlap")
  .argument("<key>", "its id, or its name, or the key itself")
  .option("--overlap <duration>", "how long the old key lives on: 30m, 24h, 7d (default: 24h)")
  .option("--expires <date>", "the new key's last day or moment (default: as long a life as the old one's)")
  .option("--json", "print it with its details as JSON")
  .action(async (key, options) => (await import("./commands/keys.ts")).rotateApiKey(io, key, options));

keys
  .command("revoke")
  .description("end a key now, on every copy and on open streams")
  .argument("<key>", "its id, or its name, or the key itself")
  .action(async (key) => (await import("./commands/keys.ts")).revokeApiKey(io, key));

const users = program
  .command("users")
  .description("list, invite and let in people who sign in, without a browser")
  .addHelpText(
    "after",
    `
Links begin with MILLRACE_BASE_URL, else with the address that the server last listened at, else with
http://127.0.0.1:3000. They are printed, and never mailed from here.`,
  );

users
  .command("list")
  .description("list everybody, by address")
  .option("--json", "as JSON")
  .action(async (options) => (await import("./commands/users.ts")).showUsers(io, options));

users
  .command("invite")
  .description("make a user and print the link with which they choose a password")
  .argument("<email>", "their address")
  .requiredOption("--role <role>", "what they may do: viewer, editor, admin")
  .action(async (email, options) => (await import("./commands/users.ts")).inviteOne(io, email, options));

users
  .command("reset")
  .description("print a link with which somebody chooses a new password, or takes the invitation up")
  .argument("<email>", "their address")
  .action(async (email) => (await import("./commands/users.ts")).resetOne(io, email));

users
  .command("role")
  .description("change what somebody may do, from their next request on")
  .argument("<email>", "their address")
  .argument("<role>", "viewer, editor, admin")
  .action(async (email, role) => (await import("./commands/users.ts")).setRole(io, email, role));

users
  .command("deactivate")
  .description("take somebody's way in away: sessions end, keys are dead")
  .argument("<email>", "their address")
  .action(async (email) => (await import("./commands/users.ts")).setStatus(io, email, "deactivated"));

users
  .command("activate")
  .description("give it back")
  .argument("<email>", "their address")
  .action(async (email) => (await import("./commands/users.ts")).setStatus(io, email, "active"));

program
  .command("run")
  .description("run a workflow and print its output; progress goes to standard error")
  .argument("<workflow>", "its id")
  .option("--input <name=value...>", "an input: text where the workflow takes text, else JSON")
  .option("--inputs-file <path>", "a JSON object of inputs; - reads standard input")
  .addOption(
    new Option("--version <int>", "the version (default: the published one, else the newest)").argParser(
      integer("The version", 1, 999_999_999),
    ),
  )
  .option("--watch", "show its steps as they go, and wait however long it waits")
  .option("--json", "print the whole run, not its output alone")
  .option("--config <path>", "the configuration file, for where no executor is running")
  .action(async (workflow, { input = [], ...options }) =>
    (await import("./commands/run.ts")).run(io, { onStop }, workflow, { input, ...options }),
  );

const runs = program
  .command("runs")
  .description("list runs, show one, cancel one")
  .option("--workflow <id>", "only this workflow's")
  .option("--status <status...>", "only these: queued, running, waiting, succeeded, failed, cancelled")
  .addOption(new Option("--limit <int>", "how many").default(20).argParser(integer("The limit", 1, 1_000)))
  .option("--json", "as JSON")
  .action(async (options) => (await import("./commands/runs.ts")).showRuns(io, options));

runs
  .command("show")
  .description("show a run with its steps")
  .argument("<run>", "its id")
  .option("--json", "as JSON, with outputs and attempts")
  .action(async (run, _, command: Command) =>
    // --json of the list above it is taken for this one too, wherever it stands.
    (await import("./commands/runs.ts")).showOneRun(io, run, command.optsWithGlobals()),
  );

runs
  .command("cancel")
  .description("stop a run and the runs that it started")
  .argument("<run>", "its id")
  .action(async (run) => (await import("./commands/runs.ts")).cancelOneRun(io, run));

const workflows = program.command("workflows").description("keep workflows as files, in git for example");

workflows
  .command("export")
  .description("write every workflow but archived ones into a directory, a YAML file each")
  .argument("<dir>", "where to; it is made if it is not there")
  .action(async (directory) => (await import("./commands/workflow-files.ts")).exportWorkflows(io, directory));

workflows
  .command("apply")
  .description("check the files of a directory, show what they would change, and make it so")
  .argument("<dir>", "where from")
  .option("--yes", "without asking")
  .option("--dry-run", "only show what would change")
  .option("--prune", "archive workflows that have no file")
  .option("--publish", "publish what was changed")
  .option("--no-bind", "check the form only, not databases, models and servers")
  .option("--reason <text>", "why, for the history")
  .option("--config <path>", "the configuration file")
  .action(async (directory, options) =>
    (await import("./commands/apply.ts")).applyWorkflows(io, { ask: askPerson }, directory, options),
  );

program
  .command("backup")
  .description("write a verified copy of the state to a file, while everything runs")
  .argument("<file>", "the file to make; it must not be there yet")
  .option("--json", "say what it holds as JSON")
  .action(async (file, options) =>
    (await import("./commands/backup.ts")).backup(io, { onStop }, file, options),
  );

program
  .command("restore")
  .description("make the state out of a backup; nothing that is there is replaced")
  .argument("<file>", "the backup")
  .option("--json", "say what it holds as JSON")
  .action(async (file, options) =>
    (await import("./commands/restore.ts")).restore(io, { onStop }, file, options),
  );

program
  .command("export")
  .description(
    "write everything that is not a secret into one file: people, workflows with their history, schedules",
  )
  .argument("<file>", "where to; it must not be there yet")
  .option("--with-runs", "finished runs too, with their inputs and outputs")
  .option("--with-audit", "the audit log too")
  .action(async (file, options) => (await import("./commands/export.ts")).exportAll(io, file, options));

program
  .command("import")
  .description("take over what such a file holds and this instance has not; what is here stays as it is")
  .argument("<file>", "what export has written")
  .option("--yes", "without asking")
  .option("--dry-run", "only show what it would bring")
  .option("--keep", "leave workflows as they are here where the file has them otherwise")
  .option("--pause-schedules", "import schedules paused")
  .action(async (file, options) =>
    (await import("./commands/import.ts")).importAll(io, { ask: askPerson }, file, options),
  );

program
  .command("check")
  .description("say whether the configuration, and the databases and models it names, can be used")
  .option("--config <path>", "the configuration file")
  .option("--json", "as JSON")
  .action(async (options) => {
    const { check } = await import("./commands/check.ts");
    await check(io, options).finally(endSoon);
  });

program
  .command("doctor")
  .description(
    "look at everything that can be wrong with an installation, and say what to do; changes nothing",
  )
  .option("--config <path>", "the configuration file")
  .option("--json", "as JSON")
  .option("--call-models", "really call each model, which costs a few tokens")
  .option("--full", "look through the whole database, however long it takes")
  .addOption(authMode())
  .addOption(hostOption("where the servers are to listen"))
  .addOption(new Option("--port <int>", "the port of serve").default(3000).argParser(port))
  .addOption(new Option("--mcp-port <int>", "the port of mcp-sse").default(8000).argParser(port))
  .action(async (options) => {
    const { doctor } = await import("./commands/doctor/index.ts");
    const platform = `${process.platform} ${process.arch}`;
    try {
      await doctor(io, { spawn: startAgain, node: process.version, platform }, options);
    } finally {
      endSoon();
    }
  });

// What it does in processes of its own, so that it can end whatever hangs.
program
  .command("doctor-part", { hidden: true })
  .argument("<part>")
  .argument("<path>")
  .addOption(authMode())
  .option("--unavailable")
  .action(async (part, path, around) => {
    const { runDoctorPart } = await import("./commands/doctor/parts.ts");
    await runDoctorPart({ spawn: startAgain, send, uid: process.getuid?.() }, part, path, around);
  });

/** Asked to end: by a signal, or by the parent's death. A second Ctrl-C does not wait. */
function onStop(stop: () => void): void {
  let asked = false;
  let interrupted = false;
  const ask = (signal: string): void => {
    // A parent's SIGTERM may come before the Ctrl-C that made it: only a second SIGINT is a second Ctrl-C.
    if (interrupted && signal === "SIGINT") process.exit(130);
    interrupted ||= signal === "SIGINT";
    if (!asked) stop();
    asked = true;
  };
  process.on("SIGTERM", ask);
  process.on("SIGINT", ask);
  process.on("disconnect", () => ask("disconnect"));
  // A parent that died before this was listened for.
  if (process.send !== undefined && !process.connected) ask("disconnect");
}

/** Whoever did not answer in time, and is still waited for by a library, keeps no command from its end. */
const endSoon = (): void => void setTimeout(() => process.exit(), 500).unref();

/** Asks the person at the terminal; undefined where there is none. */
async function askPerson(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await prompt.question(question);
  } finally {
    prompt.close();
  }
}

/** A worker has 10 s for what it is doing. Whatever keeps it longer (a log that nobody reads any more) must not. */
const soon = (stop: () => void): void =>
  onStop(() => {
    setTimeout(() => process.exit(EXIT.failed), 30_000).unref();
    stop();
  });

const send = (message: object): void => {
  if (process.connected) process.send?.(message);
};

const onMessage = (listener: (message: never) => void): void =>
  void process.on("message", (message) => listener(message as never));

const startAgain = (args: readonly string[]) =>
  fork(process.argv[1]!, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });

try {
  await program.parseAsync();
  process.exitCode ??= EXIT.ok;
} catch (error) {
  const { code, exitCode } = error as { code?: unknown; exitCode?: number };
  if (typeof code === "string" && code.startsWith("commander.")) {
    // Commander has said what was wrong, or printed the help that was asked for.
    process.exitCode = exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else {
    const told = describeError(error);
    io.err(`${told.message}\n`);
    if (io.env["MILLRACE_LOG_LEVEL"] === "debug") io.err(`${(error as Error).stack}\n`);
    process.exitCode = told.exitCode;
  }
}
// A channel to a parent is no reason to stay.
if (process.connected) process.disconnect();
if (leaving) process.exit();
