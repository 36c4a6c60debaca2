#!/usr/bin/env node
/** The command line; the only file that touches the process. */
import { fork } from "node:child_process";
import { type Io, EXIT, describeError, sanitizeForTerminal } from "./commands/io.ts";
import type { ProcessHost } from "./commands/program/host.ts";
import { createProgram } from "./commands/program/index.ts";

/** Longer than a worker takes to stop in order, in milliseconds. */
const WORKER_STOP_LIMIT_MS = 30_000;
/** How long a command that is done waits for libraries that still wait for an answer, in milliseconds. */
const EXIT_DELAY_MS = 500;

// The files that are created here hold digests of keys and the audit log: only this user may read them.
process.umask(0o077);

let exitWhenDone = false;
const io: Io = {
  out: (text) => void process.stdout.write(process.stdout.isTTY ? sanitizeForTerminal(text) : text),
  err: (text) => void process.stderr.write(process.stderr.isTTY ? sanitizeForTerminal(text) : text),
  // Moves the cursor up and clears everything below it.
  eraseLines: (lines) => void process.stderr.write(`\u001b[${lines}A\u001b[J`),
  terminal: process.stdout.isTTY,
  errTerminal: process.stderr.isTTY,
  env: process.env,
  onExit: (listener) => void process.on("exit", listener),
  exitWhenDone: () => (exitWhenDone = true),
};

const host: ProcessHost = {
  onStop,
  onWorkerStop: (stop) =>
    onStop(() => {
      // A log that nobody reads any more, for example, must not keep the process for ever.
      setTimeout(() => process.exit(EXIT.failed), WORKER_STOP_LIMIT_MS).unref();
      stop();
    }),
  spawn: (args) => fork(process.argv[1]!, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  send: (message) => void (process.connected && process.send?.(message)),
  onMessage: (listener) => void process.on("message", (message) => listener(message as never)),
  ask,
  exitSoon: () => void setTimeout(() => process.exit(), EXIT_DELAY_MS).unref(),
  uid: process.getuid?.(),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
};

/** Calls `stop` on a signal, or when the parent process is gone. A second Ctrl-C ends the process at once. */
function onStop(stop: () => void): void {
  let stopping = false;
  let interrupted = false;
  const onSignal = (signal: string): void => {
    // The parent's SIGTERM may arrive before the Ctrl-C that caused it: only a second SIGINT is a second Ctrl-C.
    if (interrupted && signal === "SIGINT") process.exit(EXIT.interrupted);
    interrupted ||= signal === "SIGINT";
    if (!stopping) stop();
    stopping = true;
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  process.on("disconnect", () => onSignal("disconnect"));
  // The parent may have died before this listener was added.
  if (process.send !== undefined && !process.connected) onSignal("disconnect");
}

async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await prompt.question(question);
  } finally {
    prompt.close();
  }
}

try {
  await createProgram(io, host).parseAsync();
  process.exitCode ??= EXIT.ok;
} catch (error) {
  const { code, exitCode } = error as { code?: unknown; exitCode?: number };
  if (typeof code === "string" && code.startsWith("commander.")) {
    // commander has already printed the message or the help.
    process.exitCode = exitCode === 0 ? EXIT.ok : EXIT.usage;
  } else {
    const described = describeError(error);
    io.err(`${described.message}\n`);
    if (io.env["MILLRACE_LOG_LEVEL"] === "debug") io.err(`${(error as Error).stack}\n`);
    process.exitCode = described.exitCode;
  }
}
// An open IPC channel would keep the process alive.
if (process.connected) process.disconnect();
if (exitWhenDone) process.exit();
