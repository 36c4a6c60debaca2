/** Runs the real program in separate processes. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { type Io } from "../../src/commands/io.ts";
import type { ProcessHost } from "../../src/commands/program/host.ts";
import { runProgram } from "../../src/commands/program/run-program.ts";
import { PROGRAM } from "./built.ts";
import { patiently } from "./patience.ts";

export interface Program {
  child: ChildProcess;
  /** The address that it listens at. */
  url: string;
  /** Its standard error output so far. */
  log(): string;
  /** Sends a signal; returns the exit code (null when the signal ended it) and the duration in milliseconds. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; ms: number }>;
}

/** The ids of a process's running child processes. */
export function childrenOf({ pid }: ChildProcess): number[] {
  let pids: string;
  try {
    pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  } catch {
    pids = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  }
  return pids.split(/\s+/).filter(Boolean).map(Number);
}

/** These start processes, threads or listeners of their own, or end with the process. */
const IN_A_PROCESS = new Set([
  "start",
  "serve",
  "mcp-sse",
  "worker",
  "run",
  "run-step",
  "doctor",
  "migrate-state",
  "backup",
]);

/** Output and exit code of a command. */
export interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** Runs a command to its end: in this process, if it starts nothing. */
export const runCommand = (
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> => (IN_A_PROCESS.has(args[0]!) ? spawnCommand : runHere)(args, env);

/** Runs a command to its end in a process of its own. */
export async function spawnCommand(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A command that hangs fails its test, and is killed.
    timeout: patiently(120_000),
    killSignal: "SIGKILL",
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

const host: ProcessHost = {
  onStop: () => {},
  onServerStop: () => {},
  onWorkerStop: () => {},
  spawn: (args) => fork(PROGRAM, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  send: () => {},
  onMessage: () => {},
  ask: async () => undefined,
  edit: () => Promise.reject(new Error("There is no editor here.")),
  exitSoon: () => {},
  uid: process.getuid?.(),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
};

/**
 * Runs a command to its end in this process: a process of its own takes half a second.
 * @param replaced what the command uses of the process, such as the answer of the person at the terminal
 */
export async function runHere(
  args: readonly string[],
  env: Record<string, string> = {},
  replaced: Partial<ProcessHost> = {},
): Promise<CommandResult> {
  let [out, err] = ["", ""];
  const io: Io = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    log: { write: (line) => void (err += line) },
    terminal: false,
    errTerminal: false,
    env: { ...process.env, ...env },
    onExit: () => {},
  };
  const code = await runProgram(io, { ...host, ...replaced }, args);
  return { code, out, err };
}

/** Starts a listener on a free port and waits until it listens. */
export async function startProgram(
  command: "serve" | "mcp-sse",
  stateDir: string,
  {
    main = PROGRAM,
    args = [],
    env = {},
    wrap = [],
  }: { main?: string | undefined; args?: string[]; env?: Record<string, string>; wrap?: string[] } = {},
): Promise<Program> {
  const [file, ...rest] = [...wrap, process.execPath, main, command, "--port", "0", ...args] as [
    string,
    ...string[],
  ];
  const child = spawn(file, rest, {
    env: { ...process.env, MILLRACE_STATE_DIR: stateDir, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  const listening = new Promise<number>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      const port = /listening on http:\/\/[^"\s]*:(\d+)/.exec(log)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("exit", (code) =>
      reject(new Error(`${command} ended with ${code} before it listened:\n${log}`)),
    );
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await exited;
    }
  });
  return {
    child,
    url: `http://127.0.0.1:${await listening}`,
    log: () => log,
    async stop(signal = "SIGTERM") {
      const start = performance.now();
      child.kill(signal);
      const [code] = await exited;
      return { code, ms: performance.now() - start };
    },
  };
}
