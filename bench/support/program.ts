import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const MILLRACE_BIN = new URL("../../bin/millrace.js", import.meta.url);

/** Clock ticks per second in /proc/PID/stat: 100 on every Linux that Node supports. */
export const TICKS_PER_SECOND = 100;

export interface Program {
  pid: number;
  port: number;
  child: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts a program that sends `{port}` to its parent when it listens.
 * @param log the file for its standard error
 */
export async function startProgram(
  file: URL,
  args: readonly string[],
  { env = {}, log }: { env?: Record<string, string>; log: string },
): Promise<Program> {
  const stderr = openSync(log, "a");
  const options: ForkOptions = {
    env: { ...process.env, NODE_ENV: "production", ...env },
    execArgv: [],
    stdio: ["ignore", "ignore", stderr, "ipc"],
  };
  const child = fork(file, args, options);
  closeSync(stderr);
  const exited = once(child, "exit");
  const port = await Promise.race([
    once(child, "message").then(([message]) => (message as { port: number }).port),
    exited.then(([code]) => {
      throw new Error(
        `${file.href} ended with ${code} before it was ready:\n${readFileSync(log, "utf8").slice(-2_000)}`,
      );
    }),
  ]);
  return {
    pid: child.pid!,
    port,
    child,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Starts Millrace as an operator does, with the log level of production and the log in a file. */
export function startMillrace(
  command: "serve" | "mcp-sse",
  stateDir: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Program> {
  return startProgram(MILLRACE_BIN, [command, "--port", "0", ...args], {
    env: { MILLRACE_STATE_DIR: stateDir, MILLRACE_LOG_LEVEL: "info", ...env },
    log: join(stateDir, "..", `${command}.log`),
  });
}

/** CPU time that all threads of a process have used, in milliseconds. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}
