/** `serve` and `mcp-sse`: a process with one server. */
import type { ChildProcess } from "node:child_process";
import type { Logger } from "pino";
import { reclaimJobs } from "../app/executor.ts";
import { type Instance, openInstance } from "../app/instance.ts";
import type { ListenAddress, RunningServer } from "../app/listener.ts";
import { startMcpServer } from "../app/mcp.ts";
import { startWebServer } from "../app/serve.ts";
import { offersSetupLink } from "../app/setup-link.ts";
import { openTracer } from "../app/tracer.ts";
import type { AuthMode } from "../../schemas/user.ts";
import { secretMasker } from "../connections/secret-masker.ts";
import type { Settings } from "../config/environment.ts";
import { readSetup } from "../config/setup.ts";
import { agreedClock } from "../core/agreed-clock.ts";
import { missingMcpUrl } from "../core/public-mcp.ts";
import { clockCheck, watchClock } from "../core/clock-check.ts";
import { hostForUrl } from "../core/hosts.ts";
import { isTemporaryFailure } from "../store/temporary-failures.ts";
import type { ExtendServer } from "../surfaces/mcp/server.ts";
import { commandHint } from "./command-hint.ts";
import { startExecutors } from "./executors.ts";
import { CommandError, endTracing, EXIT, flushLog, type Io, openLog } from "./io.ts";
import { logSecrets, readSecrets } from "./log-secrets.ts";
import { type MetricsOptions, openMetricsPort } from "./metrics.ts";
import { aborted, openWhenUsable, runService, stopSignal } from "./service.ts";

interface ListenerOptions extends ListenAddress, MetricsOptions {
  config?: string;
  /** How long to keep serving after SIGTERM, in seconds. */
  drainDelay: number;
  /** Number of executor processes to start. */
  workers: number;
  /** How people sign in (`serve`). */
  authMode?: AuthMode;
  /** Port of the MCP server, for instructions how to connect (`serve`). */
  mcpPort?: number;
  /** Whether `start` started this process (`serve`). */
  ofStart?: boolean;
}

/** What the output of a start says of the first admin account. */
export interface FirstAdmin {
  /** Whether there is none yet. */
  needsAdmin: boolean;
  /** The link that creates it; undefined where no link may be printed. */
  setupLink: string | undefined;
}

/** What a server uses of the process. */
export interface ListenerHost {
  /** Calls back once when the process must end. */
  onStop(stop: () => void): void;
  /** Reports to the parent process, if there is one, that the server listens. */
  ready(listening: { port: number } & FirstAdmin): void;
  /** Starts this program again with other arguments and an IPC channel to it. */
  spawn(args: readonly string[]): ChildProcess;
}

/** Runs the web and API server until the process must end. */
export const serve = (io: Io, host: ListenerHost, options: ListenerOptions): Promise<void> =>
  runListener(io, host, options, "serve", startWebServer);

/** Runs the MCP server until the process must end. @param extendServer registers additional handlers */
export const mcpSse = (
  io: Io,
  host: ListenerHost,
  options: ListenerOptions,
  extendServer?: ExtendServer,
): Promise<void> =>
  runListener(io, host, options, "mcp-sse", (instance, setup, at, executors) =>
    startMcpServer(instance, setup, at, executors, extendServer),
  );

async function runListener(
  io: Io,
  host: ListenerHost,
  options: ListenerOptions,
  name: "serve" | "mcp-sse",
  start: typeof startWebServer,
): Promise<void> {
  const signal = stopSignal(host);
  const { settings, config, secrets, warnings } = readSetup(io.env, options.config);
  const log = await openLog(io, settings.logLevel, name, secretMasker(config, secrets, settings.masked));
  for (const warning of warnings) log.warn(warning);
  const missing = missingMcpUrl(settings);
  if (missing !== undefined) log.warn(`${missing.detail}. ${missing.fix}`);
  let storageLost = false;
  await runService(io, log, async () => {
    // What is started is stopped in the reverse order: when the process must end, and when a later step of the start fails.
    await using starting = new AsyncDisposableStack();
    logSecrets(secrets, log);
    starting.defer(() => secrets.close());
    const secretsLoaded = readSecrets(secrets);
    const tracer = await openTracer(settings, name, log);
    starting.defer(() => endTracing(io, tracer));
    const metrics = await openMetricsPort(name, settings, options);
    const clock = agreedClock();
    const instance = await openWhenUsable(
      () => openInstance(settings, clock, log, { meter: metrics?.meter }),
      { signal, log, close: (opened) => opened.close() },
    );
    starting.defer(() => instance.close());
    starting.defer(
      await watchClock(clockCheck(clock, instance.store, log), () => instance.read.jobs.executors()),
    );
    await metrics?.listen(instance, config, log);
    starting.defer(() => metrics?.close());
    // Otherwise checks of workflows would wait for the command that gives them.
    await Promise.race([secretsLoaded, aborted(signal)]);
    signal.throwIfAborted();
    const { authMode, mcpPort } = options;
    const setup = { settings, config, clock, tracer, authMode, mcpPort };
    const executors = startExecutors(
      host.spawn,
      { count: options.workers, config: options.config, log, metrics },
      (executor) => reclaimJobs(instance, executor, setup),
    );
    let server: RunningServer | undefined;
    let drainDelayMs = 0;
    starting.defer(async () => void (await Promise.all([server?.stop(drainDelayMs), executors.stop()])));
    server = await start(instance, setup, { host: options.host, port: options.port }, executors);
    log.info(
      { host: options.host, port: server.port },
      `${name} listening on http://${hostForUrl(options.host)}:${server.port}`,
    );
    const firstAdmin = await offerFirstAdmin(io, instance, server, log);
    // `start` prints the link together with its other output.
    host.ready({ port: server.port, ...firstAdmin });
    if (options.ofStart !== true) announceFirstAdmin(io, log, settings, firstAdmin);
    void instance.store.storageLost.then(() => (storageLost = true));
    await Promise.race([aborted(signal), instance.store.storageLost]);
    log.info({ drain_delay: options.drainDelay }, `${name} shutting down`);
    drainDelayMs = storageLost ? 0 : options.drainDelay * 1000;
  });
  log.info(`${name} stopped`);
  await flushLog(log);
  if (storageLost) {
    throw new CommandError(
      "The network file system that holds the state failed, and locks may be lost. Nothing was written since then. Start the process again.",
      EXIT.state,
    );
  }
}

/** Creates a setup link only at a terminal: elsewhere the link would end up in a log. */
async function offerFirstAdmin(
  io: Io,
  instance: Instance,
  server: RunningServer,
  log: Logger,
): Promise<FirstAdmin> {
  const needsAdmin = (await server.needsAdmin?.()) ?? false;
  const isOffered = needsAdmin && io.terminal && (await offersSetupLink(instance));
  if (!isOffered) return { needsAdmin, setupLink: undefined };
  const setupLink = await server.createSetupLink?.().catch((error: unknown) => {
    // The server works without it, and a command prints another one.
    if (!isTemporaryFailure(error)) throw error;
    log.warn({ reason: (error as Error).message }, "setup link not created");
    return undefined;
  });
  return { needsAdmin, setupLink };
}

function announceFirstAdmin(
  io: Io,
  log: Logger,
  settings: Settings,
  { needsAdmin, setupLink }: FirstAdmin,
): void {
  if (setupLink !== undefined)
    io.out(`Create the first admin account with this link, which works once:\n  ${setupLink}\n`);
  else if (needsAdmin)
    log.info(
      `there is no admin account yet; \`${commandHint(settings, "users setup-link")}\` prints a link that creates it`,
    );
}
