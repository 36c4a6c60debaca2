/** Runs a command line to its end. */
import { describeError, EXIT, type Io } from "../io.ts";
import type { ProcessHost } from "./host.ts";
import { createProgram } from "./index.ts";

/**
 * Runs one command. Its errors are printed.
 * @param args without the name of the program
 * @returns the exit code
 */
export async function runProgram(io: Io, host: ProcessHost, args: readonly string[]): Promise<number> {
  try {
    await createProgram(io, host).parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    const { code, exitCode } = error as { code?: unknown; exitCode?: number };
    // commander has already printed the message or the help.
    if (typeof code === "string" && code.startsWith("commander."))
      return exitCode === 0 ? EXIT.ok : EXIT.usage;
    const described = describeError(error);
    io.err(`${described.message}\n`);
    if (io.env["MILLRACE_LOG_LEVEL"] === "debug") io.err(`${(error as Error).stack}\n`);
    return described.exitCode;
  }
}
