/** `millrace start`: both servers in one terminal. */
import type { ChildProcess } from "node:child_process";
import type { Logger } from "pino";
import { OPERATOR } from "../../schemas/actor.ts";
import { VERSION } from "../app/build.ts";
import { openInstance } from "../app/instance.ts";
import { createKey } from "../auth/api-keys.ts";
import { apiKeyState } from "../core/api-key-lifecycle.ts";
import type { Settings } from "../config/environment.ts";
import { readSetup } from "../config/setup.ts";
import { systemClock } from "../core/clock.ts";
import { reachableHost } from "../core/hosts.ts";
import { mcpBase } from "../core/mcp-resource.ts";
import { pathPrefixOf, webBase } from "../core/public-url.ts";
import { commandHint } from "./command-hint.ts";
import { CommandError, EXIT, type Io, openLog, paint } from "./io.ts";
import type { FirstAdmin } from "./listeners.ts";
import type { MetricsOptions } from "./metrics.ts";
import { openWhenUsable, runService, stopSignal } from "./service.ts";
import { FIRST_SAMPLE, createSamples } from "./samples.ts";

export interface StartOptions extends MetricsOptions {
  host: string;
  port: number;
  mcpPort: number;
  config?: string;
  drainDelay: number;
  authMode: string;
  /** Number of executor processes that each server starts. */
  workers: number;
}

export interface StartHost {
  /** Starts this program again with other arguments and an IPC channel to it. */
  spawn(args: readonly string[]): ChildProcess;
  onStop(stop: () => void): void;
}

/** Runs both servers until one of them ends or the process must end. */
export async function start(io: Io, host: StartHost, options: StartOptions): Promise<void> {
  // Reports problems of the configuration and the state once, before two processes would report them.
  const { settings } = readSetup(io.env, options.config);
  const metrics = metricsArguments(settings, options);
  const signal = stopSignal(host);
  const log = await openLog(io, settings.logLevel, "start");
  await runService(io, log, () => runServers(io, host, options, { settings, metrics, log, signal }));
}

interface Starting {
  settings: Settings;
  metrics: { serve: string[]; mcp: string[] };
  log: Logger;
  signal: AbortSignal;
}

async function runServers(
  io: Io,
  host: StartHost,
  options: StartOptions,
  { settings, metrics, log, signal }: Starting,
): Promise<void> {
  const key = await createFirstKey(io, settings, log, signal);
  const isNew = await openWhenUsable(() => createSamples(io, settings), { signal, log });
  const sample = isNew ? FIRST_SAMPLE : undefined;

  const common = [
    "--host",
    options.host,
    "--drain-delay",
    String(options.drainDelay),
    "--workers",
    String(options.workers),
    ...(options.config === undefined ? [] : ["--config", options.config]),
  ];
  signal.throwIfAborted();
  const children: Child[] = [];
  let stopping = false;
  const stopAll = (): void => {
    stopping = true;
    for (const child of children) child.process.kill("SIGTERM");
  };
  signal.addEventListener("abort", stopAll, { once: true });
  try {
    children.push(
      startServer(host, "serve", [
        "serve",
        "--auth-mode",
        options.authMode,
        "--port",
        String(options.port),
        "--mcp-port",
        String(options.mcpPort),
        "--of-start",
        ...common,
        ...metrics.serve,
      ]),
    );
    children.push(
      startServer(host, "mcp-sse", ["mcp-sse", "--port", String(options.mcpPort), ...common, ...metrics.mcp]),
    );
  } catch (error) {
    stopAll();
    throw error;
  }

  // In the order in which the servers end: the first one is the cause.
  const failures: { name: string; code: number; outcome: string }[] = [];
  const ended = Promise.all(
    children.map(async ({ name, ended: end }) => {
      const { code, outcome } = await end;
      if (code !== EXIT.ok) failures.push({ name, code, outcome });
      if (!stopping) stopAll();
    }),
  );
  const ready = await Promise.race([
    Promise.all(children.map((child) => child.ready)),
    ended.then(() => undefined),
  ]);
  if (ready !== undefined) {
    const [web, mcp] = ready;
    io.out(
      formatWelcome(io, {
        commandLine: (command) => commandHint(settings, command),
        web: `${address(options.host, web!.port)}${pathPrefixOf(settings.baseUrl && webBase(settings.baseUrl))}`,
        mcp: `${address(options.host, mcp!.port)}${pathPrefixOf(settings.mcpUrl && mcpBase(settings.mcpUrl))}`,
        firstAdmin: web!,
        key,
        sample,
      }),
    );
  }

  await ended;
  const [cause] = failures;
  if (cause !== undefined)
    throw new CommandError(`${cause.name} ${cause.outcome}. The other server was stopped too.`, cause.code);
}

/** `serve` gets the given metrics port, `mcp-sse` the next one. */
function metricsArguments(
  { metrics }: Pick<Settings, "metrics">,
  { metricsPort: port = metrics.port, metricsHost = metrics.host }: MetricsOptions,
): { serve: string[]; mcp: string[] } {
  if (port === undefined) return { serve: [], mcp: [] };
  if (port === 65_535) {
    throw new CommandError(
      "--metrics-port must be below 65535, because mcp-sse uses the next port.",
      EXIT.usage,
    );
  }
  const argumentsFor = (metricsPort: number): string[] => [
    "--metrics-port",
    String(metricsPort),
    "--metrics-host",
    metricsHost,
  ];
  return { serve: argumentsFor(port), mcp: argumentsFor(port === 0 ? 0 : port + 1) };
}

type Child = ReturnType<typeof startServer>;

function startServer(host: StartHost, name: string, args: readonly string[]) {
  const process = host.spawn(args);
  return {
    name,
    process,
    ready: new Promise<{ port: number } & FirstAdmin>((resolve) =>
      process.once("message", (message) => resolve(message as { port: number } & FirstAdmin)),
    ),
    ended: new Promise<{ code: number; outcome: string }>((resolve) =>
      process.once("exit", (code, signal) => {
        // A server that is stopped before it handles signals ends by the signal itself.
        const stopped = signal === "SIGTERM" || signal === "SIGINT";
        const outcome = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
        resolve({ code: stopped ? EXIT.ok : (code ?? EXIT.failed), outcome });
      }),
    ),
  };
}

/**
 * Creates an API key at the first start, if standard output is a terminal.
 * @returns undefined if there is an active key already, "" if none was created
 */
async function createFirstKey(
  io: Io,
  location: Pick<Settings, "stateDir" | "database">,
  log: Logger,
  signal: AbortSignal,
): Promise<string | undefined> {
  // This opens the state first, so the log of a migration appears here.
  const instance = await openWhenUsable(() => openInstance(location, systemClock, log), {
    signal,
    log,
    close: (opened) => opened.close(),
  });
  try {
    const now = systemClock.now();
    if ((await instance.keys.list()).some((key) => apiKeyState(key, now) === "active")) return undefined;
    // Without a terminal, the key would end up in a log.
    if (!io.terminal) return "";
    return (await createKey(instance.keys, systemClock, { name: "first start", owner: OPERATOR })).value;
  } finally {
    await instance.close();
  }
}

interface Welcome {
  /** How a command is written in another terminal. */
  commandLine: (command: string) => string;
  /** Where the web server is reached on this machine, with the path of its public URL. */
  web: string;
  /** Where the MCP server is. */
  mcp: string;
  firstAdmin: FirstAdmin;
  /** Undefined if there is an active key already, empty if none was created. */
  key: string | undefined;
  /** A sample workflow that can be run at once. */
  sample: string | undefined;
}

/** Where a server on this machine is reached. */
const address = (host: string, port: number): string => `http://${reachableHost(host)}:${port}`;

function formatWelcome(io: Io, { commandLine, web, mcp, firstAdmin, key, sample }: Welcome): string {
  const { bold, cyan, dim } = paint(io);
  const command = (text: string): string => cyan(commandLine(text));
  const value = key || "<key>";
  const keyLines =
    key === undefined
      ? `List your API keys: ${command("keys list")}. Create another: ${command("keys create --name <name>")}`
      : key === ""
        ? `Create an API key first: ${command("keys create --name me")}`
        : `Your first API key, shown only once: ${bold(key)}`;
  const config = JSON.stringify({
    mcpServers: {
      millrace: { type: "http", url: `${mcp}/mcp`, headers: { "X-API-Key": value } },
    },
  });
  const sampleLines =
    sample === undefined
      ? ""
      : `
A sample database and sample workflows were created. Run one:
  ${cyan(`curl -H "X-API-Key: ${value}" -H "Content-Type: application/json" -d '{"wait": 30}' ${web}/workflows/${sample}/runs`)}
  ${command(`run ${sample} --watch`)}
  ${dim("or tell a connected agent:")} ${cyan(`run the workflow ${sample}`)}
`;
  const { needsAdmin, setupLink } = firstAdmin;
  const adminLines =
    setupLink !== undefined
      ? `\nCreate your admin account (the link works once):\n  ${cyan(setupLink)}\n`
      : needsAdmin
        ? `\nCreate your admin account: ${command("users setup-link")}\n`
        : "";
  return `
${bold(`Millrace ${VERSION}`)}

  Web    ${web}/ui/
  API    ${web}/workflows   ${dim("reference:")} ${web}/apidoc/
  MCP    ${mcp}/mcp   ${dim("older clients:")} ${mcp}/sse
${adminLines}
${keyLines}

List workflows:
  ${cyan(`curl -H "X-API-Key: ${value}" ${web}/workflows`)}
Connect an agent (configuration for most clients):
  ${cyan(config)}
Claude Code:
  ${cyan(`claude mcp add --transport http millrace ${mcp}/mcp --header "X-API-Key: ${value}"`)}
${sampleLines}
Press Ctrl-C to stop both servers.
`;
}
