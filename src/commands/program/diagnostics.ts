/** `check` and `doctor`. */
import { type Command, Option } from "commander";
import type { Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { authModeOption, configOption, hostOption, jsonOption, port } from "./options.ts";

export function registerDiagnostics(program: Command, io: Io, host: ProcessHost): void {
  const { spawn, send, exitSoon, uid, node, platform } = host;

  program
    .command("check")
    .description("check that the configuration is valid and that its databases and models can be reached")
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options) => {
      const { check } = await import("../check.ts");
      await check(io, options).finally(exitSoon);
    });

  program
    .command("doctor")
    .description("check the whole installation and say how to fix each problem; changes nothing")
    .addOption(configOption())
    .addOption(jsonOption())
    .option("--call-models", "send a request to each model, which costs a few tokens")
    .option("--full", "check the whole database, which can take up to 30 minutes")
    .addOption(authModeOption())
    .addOption(hostOption(io, "address that the servers listen on"))
    .addOption(new Option("--port <int>", "port of serve").default(3000).argParser(port))
    .addOption(new Option("--mcp-port <int>", "port of mcp-sse").default(8000).argParser(port))
    .action(async (options) => {
      const { doctor } = await import("../doctor/index.ts");
      await doctor(io, { spawn, node, platform }, options).finally(exitSoon);
    });

  // doctor runs these checks in child processes, which it can kill if a file system hangs.
  program
    .command("doctor-part", { hidden: true })
    .argument("<part>")
    .argument("<path>")
    .addOption(authModeOption())
    .addOption(new Option("--free-disk <bytes>").argParser(Number))
    .addOption(new Option("--limits <json>").argParser(JSON.parse))
    .addOption(new Option("--unfit-secrets <json>").argParser(JSON.parse))
    .option("--unavailable")
    .action(async (part, path, context) => {
      const { runDoctorPart } = await import("../doctor/parts.ts");
      await runDoctorPart({ spawn, send, uid }, part, path, context);
    });
}
