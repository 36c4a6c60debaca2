/** Runs the real program in separate processes. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { type Io } from "../../src/commands/io.ts";
import type { ProcessHost } from "../../src/commands/program/host.ts";
import { runProgram } from "../../src/commands/program/run-program.ts";
import { PROGRAM } from "./built.ts";

/** An executor. */
export interface Worker {
  child: ChildProcess;
  /** Its standard error output so far. */
  log(): string;
  /** Sends a signal; returns the exit code (null when the signal ended it) and the duration in milliseconds. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; ms: number }>;
}

/** A listener. */
export interface Program extends Worker {
  /** The address that it listens at. */
  url: string;
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

/** Runs a command to its end. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A command that hangs fails its test, and is killed.
    timeout: 60_000,
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

/** Runs a command to its end in this process, for commands that start nothing: a process of its own takes a second. */
export async function runHere(
  args: readonly string[],
  env: Record<string, string> = {},
  more: Partial<ProcessHost> = {},
): Promise<{ code: number; out: string; err: string }> {
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
  const code = await runProgram(io, { ...host, ...more }, args);
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
  const { found, ...started } = await startProcess(
    [...wrap, process.execPath, main, command, "--port", "0", ...args],
    { MILLRACE_STATE_DIR: stateDir, ...env },
    /listening on http:\/\/[^"\s]*:(\d+)/,
  );
  return { ...started, url: `http://127.0.0.1:${found[1]}` };
}

/** Starts an executor as a process of its own, and waits until it takes jobs. */
export async function startWorker(
  stateDir: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Worker> {
  const command = [process.execPath, PROGRAM, "worker", ...args];
  const { found: _, ...started } = await startProcess(
    command,
    { MILLRACE_STATE_DIR: stateDir, ...env },
    /worker started/,
  );
  return started;
}

/** Starts a process, which is killed at the end of the test. @returns it, when its log matches `ready` */
async function startProcess(
  command: readonly string[],
  env: Record<string, string>,
  ready: RegExp,
): Promise<Worker & { found: RegExpExecArray }> {
  const [file, ...args] = command as [string, ...string[]];
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const started = new Promise<RegExpExecArray>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
      const found = ready.exec(log);
      if (found !== null) resolve(found);
    });
    child.once("exit", (code) =>
      reject(new Error(`${args.join(" ")} ended with ${code} before it was ready:\n${log}`)),
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
    found: await started,
    log: () => log,
    async stop(signal = "SIGTERM") {
      const start = performance.now();
      child.kill(signal);
      const [code] = await exited;
      return { code, ms: performance.now() - start };
    },
  };
}
