/** Input and output of a command: standard streams, the terminal, the environment, the log and the exit code. */
import { type Level, pino, type Logger, type LoggerOptions } from "pino";
import { styleText } from "node:util";
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../core/errors.ts";
import type { Tracer } from "../core/tracer.ts";
import { ConfigError } from "../config/config-file.ts";
import { messageWithCommands, withCommands } from "./command-ways.ts";
import { createMasker, type Masker } from "../connections/masking.ts";
import { maskKeys, redactSecrets } from "./log-redaction.ts";

export interface Io {
  out(text: string): void;
  /** Resolves when standard output takes more: the program that reads it may be slower, and unread output is in memory. */
  outDrained?(): Promise<void>;
  err(text: string): void;
  /** Erases the last lines that were written to standard error, which must be a terminal. */
  eraseLines?(lines: number): void;
  /** Whether standard output is a terminal. */
  terminal: boolean;
  /** Whether standard error is one. */
  errTerminal: boolean;
  env: Readonly<Record<string, string | undefined>>;
  /** Takes the lines of the log; without it they go to standard error. */
  log?: { write(line: string): void };
  /** Calls back when the process exits, except after SIGKILL. */
  onExit(listener: () => void): void;
  /** Makes the process exit after the command, even if a library's timers or sockets are still active. */
  exitWhenDone?(): void;
}

/** Maximum time that a log line is buffered, in milliseconds. */
const LOG_FLUSH_INTERVAL_MS = 100;
/** Maximum size of log lines that can't be written, in bytes. Later ones are lost. */
const MAX_LOG_BUFFER = 4 * 1024 * 1024;

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  config: 3,
  state: 4,
  port: 5,
  waiting: 6,
  interrupted: 130,
} as const;

export const EXIT_HELP = `
Exit codes:
  0    success
  1    failure; the message says why
  2    usage error: unknown command or option, or an invalid value
  3    invalid configuration or environment variable; check or doctor found an error
  4    the state directory cannot be used
  5    the port cannot be listened on
  6    the run needs an approval or waits for more than a minute (run)
  130  watching was interrupted with Ctrl-C; the run continues (run)`;

/** Ends a command with a message for people and an exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** An issue of an input, with how to fix it. */
export function issueLine({ path, message, allowed, did_you_mean: near, fix }: Issue): string {
  const list = allowed === undefined || allowed.length === 0 ? undefined : `Allowed: ${allowed.join(", ")}.`;
  const advice = fix ?? (near === undefined ? list : `Did you mean ${near}?`);
  return `${path} ${message}${advice === undefined ? "" : `. ${advice}`}`;
}

/** One line for each issue of an input. */
function issueLines({ code, details: { errors = [] } }: AppError): string[] {
  if (code !== "invalid_input" && code !== "workflow_not_runnable") return [];
  // Only in the fix: elsewhere the name of an operation may be a value, such as the nearest one to that of --tool.
  return errors.map((issue) => {
    const { fix } = issue;
    return `- ${issueLine(fix === undefined ? issue : { ...issue, fix: withCommands(fix) })}`;
  });
}

/** Sends the remaining spans. If the collector does not answer, the process exits without waiting for it. */
export async function endTracing(io: Io, tracer: Tracer): Promise<void> {
  if (!(await tracer.close())) io.exitWhenDone?.();
}

/** The message and the exit code for an error that ended a command. */
export function describeError(error: unknown): { message: string; exitCode: number } {
  // Undoing what was done before it failed too.
  if (error instanceof SuppressedError) return describeError(error.suppressed);
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { message: error.issues.join("\n"), exitCode: EXIT.config };
  if (error instanceof AppError) {
    const state = error.code === "storage_unavailable" || error.code === "busy";
    const issues = issueLines(error);
    return {
      message: [issues.length === 0 ? messageWithCommands(error) : error.message, ...issues].join("\n"),
      exitCode: state ? EXIT.state : EXIT.failed,
    };
  }
  const listenError = describeListenError(error, { port: "--port", host: "--host" });
  if (listenError !== undefined) return { message: listenError, exitCode: EXIT.port };
  return {
    message: `Unexpected error: ${(error as Error).message}. Set MILLRACE_LOG_LEVEL=debug to see where it happened.`,
    exitCode: EXIT.failed,
  };
}

/**
 * Says why a port cannot be listened on.
 * @param options the names of the options that choose another port or address
 * @returns undefined for any other error
 */
export function describeListenError(
  error: unknown,
  options: { port: string; host: string },
): string | undefined {
  const { code, syscall, port, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  // A file that can't be read has the same code.
  if (code === "EACCES" && syscall !== "listen") return undefined;
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is already in use. Choose another with ${options.port}, or stop the program that uses it.`;
    case "EACCES":
      return `This user has no permission to listen on port ${port}. Choose a port above 1023 with ${options.port}.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `This machine does not have the address ${address ?? "that was given"}. Choose another with ${options.host}.`;
    default:
      return undefined;
  }
}

/** Functions that colour text; without a terminal, or with NO_COLOR, they return it unchanged. */
export function paint(io: Pick<Io, "terminal" | "env">) {
  const on = io.terminal && !io.env["NO_COLOR"];
  const styled = (style: Parameters<typeof styleText>[0]) => (text: string) =>
    on ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: styled("bold"),
    dim: styled("dim"),
    green: styled("green"),
    red: styled("red"),
    yellow: styled("yellow"),
    cyan: styled("cyan"),
  };
}

/** The escape sequences that `paint` writes. */
const COLOURS = "\u001b\\[(?:1|2|22|3[1236]|39)m";
const CONTROLS = new RegExp(`(${COLOURS})|(?![\\n\\t])\\p{Cc}`, "gu");

/**
 * Replaces control characters. Names, errors and answers come from other people: they must not move the cursor, clear the
 * screen, or set the title or the clipboard of a terminal.
 */
export const sanitizeForTerminal = (text: string): string =>
  text.replace(CONTROLS, (_, colour: string | undefined) => colour ?? "\u{FFFD}");

const NO_MASKER = createMasker([]);

/**
 * Opens the log on standard error: JSON, or readable lines on a terminal. Secrets are redacted.
 * @param mask removes the secrets of the configuration
 */
export async function openLog(
  io: Io,
  level: Level | "silent",
  name: string,
  mask: Masker = NO_MASKER,
): Promise<Logger> {
  const options = {
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: (fields: Record<string, unknown>) => redactSecrets(fields) },
    // redactSecrets serializes errors itself, with the properties that libraries add to them.
    serializers: { err: (error: unknown) => error },
    hooks: { streamWrite: (line: string) => mask.text(maskKeys(line)) },
  };
  if (io.log !== undefined) return pino(options, io.log);
  if (!io.errTerminal) return machineLog(io, options);
  const { default: pretty } = await import("pino-pretty");
  return pino(
    options,
    pretty({ destination: 2, ignore: "pid,hostname,host,port", singleLine: true, translateTime: "HH:MM:ss" }),
  );
}

/** Resolves when all lines are written. */
export const flushLog = (log: Logger): Promise<void> => new Promise((resolve) => log.flush(() => resolve()));

/** Writes lines in batches, because a write costs as much as a database query. Warnings and errors are written at once. */
function machineLog(io: Io, options: LoggerOptions): Logger {
  const destination = pino.destination({ fd: 2, sync: false, minLength: 4_096, maxLength: MAX_LOG_BUFFER });
  // The reader of standard error is gone, or its file is on a full disk: nothing can be reported anywhere.
  destination.on("error", () => {});
  const flushOnExit = (): void => {
    try {
      destination.flushSync();
    } catch {
      // Standard error is closed: the error cannot be reported anywhere.
    }
  };
  io.onExit(flushOnExit);
  // `flush` does nothing during a write: the lines that came meanwhile would wait until 4 KB are buffered.
  let flushRequested = false;
  destination.on("drain", () => {
    if (!flushRequested) return;
    flushRequested = false;
    destination.flush();
  });
  const flushNow = (): void => {
    flushRequested = true;
    destination.flush();
  };
  const urgent = pino.levels.values["warn"]!;
  let flushTimer: NodeJS.Timeout | undefined;
  return pino(
    {
      ...options,
      hooks: {
        ...options.hooks,
        logMethod(args, write, level) {
          write.apply(this, args);
          if (level >= urgent) flushNow();
          flushTimer ??= setTimeout(() => {
            flushTimer = undefined;
            flushNow();
          }, LOG_FLUSH_INTERVAL_MS).unref();
        },
      },
    },
    destination,
  );
}
