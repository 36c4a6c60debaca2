#!/usr/bin/env node
/** The command line; the only file that touches the process. */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError, type Io, EXIT, sanitizeForTerminal } from "./commands/io.ts";
import type { ProcessHost } from "./commands/program/host.ts";
import { runProgram } from "./commands/program/run-program.ts";

/** Longer than a worker takes to stop in order, in milliseconds. */
const WORKER_STOP_LIMIT_MS = 30_000;
/** How long a command that is done waits for libraries that still wait for an answer, in milliseconds. */
const EXIT_DELAY_MS = 500;

// The files that are created here hold digests of keys and the audit log: only this user may read them.
process.umask(0o077);

/** Whether this process serves others: nobody has to read what it prints. */
let isService = false;

// The program that read the output has ended, as head does after some lines: nobody is left to read the rest.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (isService) return;
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT.failed);
});
// An error that can't be printed can't be reported anywhere.
process.stderr.on("error", () => {});

let exitWhenDone = false;
const io: Io = {
  out: (text) => void process.stdout.write(process.stdout.isTTY ? sanitizeForTerminal(text) : text),
  outDrained: async () => void (process.stdout.writableNeedDrain && (await once(process.stdout, "drain"))),
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
  onServerStop,
  onWorkerStop: (stop) =>
    onServerStop(() => {
      // A library that waits for an answer, for example, must not keep the process for ever.
      setTimeout(() => process.exit(EXIT.failed), WORKER_STOP_LIMIT_MS).unref();
      stop();
    }),
  spawn: (args) => fork(process.argv[1]!, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  // A parent that was killed is noticed by the end of its channel. Without a callback the error would end this process.
  send: (message) => void (process.connected && process.send?.(message, undefined, undefined, () => {})),
  onMessage: (listener) => void process.on("message", (message) => listener(message as never)),
  ask,
  edit,
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

function onServerStop(stop: () => void): void {
  isService = true;
  onStop(stop);
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

async function edit(file: string): Promise<void> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  const [command = "", ...args] = editor.split(/\s+/);
  const code = await new Promise<number | null>((resolve, reject) => {
    spawn(command, [...args, file], { stdio: "inherit" })
      .on("error", reject)
      .on("exit", resolve);
  }).catch(() => null);
  if (code === 0) return;
  throw new CommandError(
    `The editor "${editor}" failed, so nothing was saved. Set EDITOR to another one, or use --file.`,
  );
}

process.exitCode = await runProgram(io, host, process.argv.slice(2));
// An open IPC channel would keep the process alive.
if (process.connected) process.disconnect();
if (exitWhenDone) process.exit();
