/** `serve` and `mcp-sse`: one listener, one process. */
import type { ChildProcess } from "node:child_process";
import { reclaimJobs } from "../app/executor.ts";
import { type Instance, openInstance } from "../app/instance.ts";
import type { ListenAddress, RunningServer } from "../app/listener.ts";
import { startMcpServer } from "../app/mcp.ts";
import { startWebServer } from "../app/serve.ts";
import { openTracer } from "../app/tracer.ts";
import type { AuthMode } from "../../schemas/user.ts";
import { readSetup } from "../config/setup.ts";
import { systemClock } from "../core/clock.ts";
import { hostForUrl } from "../core/hosts.ts";
import type { ExtendServer } from "../surfaces/mcp/server.ts";
import { startExecutors } from "./executors.ts";
import { CommandError, endTracing, EXIT, flushLog, type Io, openLog } from "./io.ts";
import { type MetricsOptions, openMetricsPort } from "./metrics.ts";

interface ListenerOptions extends ListenAddress, MetricsOptions {
  config?: string;
  /** Seconds. */
  drainDelay: number;
  /** How many executors it starts. */
  workers: number;
  /** Of `serve`: how people sign in. */
  authMode?: AuthMode;
  /** Of `serve`: where the MCP server is, for who is told how to connect. */
  mcpPort?: number;
  /** Of `serve`: whether it is `start` that started it. */
  ofStart?: boolean;
}

/** What the process does for a listener: tells of signals, and of its parent when it has one. */
export interface ListenerHost {
  /** Called once: the process was asked to end. */
  onStop(stop: () => void): void;
  /** Tells the parent, where there is one, where it listens. */
  ready(listening: { port: number; setupLink?: string | undefined }): void;
  /** Starts this program again with other arguments, with a channel to it. */
  spawn(args: readonly string[]): ChildProcess;
}

/** Runs the web and API server until it is told to stop. */
export const serve = (io: Io, host: ListenerHost, options: ListenerOptions): Promise<void> =>
  runListener(io, host, options, "serve", startWebServer);

/** Runs the MCP server until it is told to stop. @param extendServer registers handlers that the program itself lacks */
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
  // First of all: who is told to stop while it starts, or loses its parent, does.
  const stopped = new Promise<void>((resolve) => host.onStop(resolve));
  const { settings, config, warnings } = readSetup(io.env, options.config);
  const log = await openLog(io, settings.logLevel, name);
  for (const warning of warnings) log.warn(warning);

  const tracer = await openTracer(settings, name, log);
  const metrics = await openMetricsPort(name, settings, options);
  const instance: Instance = await openInstance(
    settings.stateDir,
    systemClock,
    log,
    undefined,
    metrics?.meter,
  );
  await metrics?.listen(instance, log).catch(async (error: unknown) => {
    await instance.close();
    throw error;
  });
  const { authMode, mcpPort } = options;
  const setup = { settings, config, clock: systemClock, tracer, authMode, mcpPort };
  const executors = startExecutors(
    host.spawn,
    { count: options.workers, config: options.config, log, metrics },
    (executor) => reclaimJobs(instance, executor, setup),
  );
  let running: RunningServer;
  try {
    const at = { host: options.host, port: options.port };
    running = await start(instance, setup, at, executors);
  } catch (error) {
    await executors.stop();
    await metrics?.close();
    await instance.close();
    throw error;
  }
  log.info(
    { host: options.host, port: running.port },
    `${name} listens on http://${hostForUrl(options.host)}:${running.port}`,
  );
  const setupLink = await running.setupLink?.();
  // Who started both servers says it with everything else.
  host.ready({ port: running.port, setupLink });
  if (options.ofStart !== true && setupLink !== undefined)
    log.info(`make the first admin account here, with this link that works once: ${setupLink}`);
  const gone = await Promise.race([stopped.then(() => false), instance.store.storageLost.then(() => true)]);
  log.info({ drain_delay: options.drainDelay }, `${name} is shutting down`);
  await Promise.all([running.stop(gone ? 0 : options.drainDelay * 1000), executors.stop()]);
  await metrics?.close();
  await instance.close();
  await endTracing(io, tracer);
  log.info(`${name} has stopped`);
  await flushLog(log);
  if (gone) {
    throw new CommandError(
      "The network file system that holds the state failed, and locks may be lost. Nothing was written since. Start again.",
      EXIT.state,
    );
  }
}
