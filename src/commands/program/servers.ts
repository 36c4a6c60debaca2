/** `start`, `serve`, `mcp-sse` and `worker`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import {
  addListenerOptions,
  addMetricsOptions,
  authModeOption,
  configOption,
  integer,
  port,
  workersOption,
} from "./options.ts";

export function registerServers(program: Command, io: Io, host: ProcessHost): void {
  const { spawn, onServerStop: onStop, onWorkerStop, onMessage, send } = host;

  addMetricsOptions(
    addListenerOptions(program.command("start").description("run both servers together"), io, 3000),
    " in serve; mcp-sse uses the next port",
  )
    .addOption(workersOption())
    .addOption(new Option("--mcp-port <int>", "port of the MCP server").default(8000).argParser(port))
    .addOption(authModeOption())
    .action(async (options) => {
      const { start } = await import("../start.ts");
      await start(io, { spawn, onStop }, options);
    });

  addMetricsOptions(
    addListenerOptions(program.command("serve").description("run the web and API server"), io, 3000),
  )
    .addOption(workersOption())
    .addOption(authModeOption())
    .addOption(new Option("--mcp-port <int>").default(8000).argParser(port).hideHelp())
    // An IPC channel does not prove that `start` is the parent: it may be the wrapper that found a newer Node.
    .addOption(new Option("--of-start").hideHelp())
    .action(async (options) => {
      const { serve } = await import("../listeners.ts");
      await serve(io, { onStop, ready: send, spawn }, options);
    });

  addMetricsOptions(
    addListenerOptions(
      program.command("mcp-sse").description("run the MCP server (/mcp and /sse)"),
      io,
      8000,
    ),
  )
    .addOption(workersOption())
    .addOption(new Option("--of-start").hideHelp())
    .action(async (options) => {
      const { mcpSse } = await import("../listeners.ts");
      await mcpSse(io, { onStop, ready: send, spawn }, options);
    });

  addMetricsOptions(
    program
      .command("worker")
      .description("run an executor without a server, for servers started with --workers 0 or with too few"),
  )
    .addOption(configOption())
    .addOption(
      new Option("--slots <int>", "maximum number of steps that run at the same time")
        .default(32)
        .argParser(integer(1, 1_000)),
    )
    .addOption(new Option("--id <id>").hideHelp())
    .addOption(new Option("--metered").hideHelp())
    .addOption(new Option("--lease <ms>").argParser(integer(100, 600_000)).hideHelp())
    .action(async (options) => {
      const { worker } = await import("../worker.ts");
      await worker(io, { onStop: onWorkerStop, onMessage, send }, options);
    });
}
