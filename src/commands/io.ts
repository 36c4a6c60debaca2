/** What a command has of the world: where to write, whether a person is there, and how it ends. */
import { type Level, pino, type Logger, type LoggerOptions } from "pino";
import { styleText } from "node:util";
import { AppError } from "../core/errors.ts";
import type { Tracer } from "../core/tracer.ts";
import { ConfigError } from "../config/config-file.ts";
import { maskKeys, redactSecrets } from "./log-redaction.ts";

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** Goes back over so many lines that were written to standard error last, which is a terminal. */
  eraseLines?(lines: number): void;
  /** Whether standard output is a terminal. */
  terminal: boolean;
  /** Whether standard error is one. */
  errTerminal: boolean;
  env: Readonly<Record<string, string | undefined>>;
  /** Calls back when the process ends, however it does but by SIGKILL. */
  onExit(last: () => void): void;
  /** Has the process end when the command is done, though a library's timers or sockets would keep it. */
  exitWhenDone?(): void;
}

/** At most so long a line waits for others. */
const LOG_EVERY_MS = 100;

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
  0  done
  1  failed; the message says why
  2  wrong use: unknown command or option, or a value that can't be
  3  the configuration or an environment variable is not valid; doctor found a fault
  4  the state directory can't be used
  5  the port can't be listened on
  6  the run waits, for a person or for long (run)
  130  watching was ended by Ctrl-C; the run goes on (run)`;

/** An end with a code of its own and a message for people. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Each fault of an input, where the message itself can't say all of them and what to do. */
function issueLines({ code, details: { errors = [] } }: AppError): string[] {
  if (code !== "invalid_input" && code !== "workflow_not_runnable") return [];
  return errors.map(({ path, message, allowed, did_you_mean: near, fix }) => {
    const advice =
      fix ?? (near === undefined ? allowed && `Allowed: ${allowed.join(", ")}.` : `Did you mean ${near}?`);
    return `- ${path} ${message}${advice === undefined ? "" : `. ${advice}`}`;
  });
}

/** Sends what is left of traces; a collector that does not answer keeps nobody. */
export async function endTracing(io: Io, tracer: Tracer): Promise<void> {
  if (!(await tracer.close())) io.exitWhenDone?.();
}

/** What a failed command says, and the code it ends with. */
export function describeError(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof ConfigError) return { message: error.issues.join("\n"), exitCode: EXIT.config };
  if (error instanceof AppError) {
    const state = error.code === "storage_unavailable" || error.code === "busy";
    return {
      message: [error.message, ...issueLines(error)].join("\n"),
      exitCode: state ? EXIT.state : EXIT.failed,
    };
  }
  const port = describeListenError(error, { port: "--port", host: "--host" });
  if (port !== undefined) return { message: port, exitCode: EXIT.port };
  return {
    message: `It failed unexpectedly: ${(error as Error).message}. With MILLRACE_LOG_LEVEL=debug the log says where.`,
    exitCode: EXIT.failed,
  };
}

/**
 * Why a port can't be listened on, where that is what went wrong.
 * @param options the names of those that choose another
 */
export function describeListenError(
  error: unknown,
  options: { port: string; host: string },
): string | undefined {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} is in use already. Choose another with ${options.port}, or end what uses it.`;
    case "EACCES":
      return `Port ${port} may not be listened on by this user. Choose one above 1023 with ${options.port}.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `This machine has no address ${address ?? "like that"}. Choose another with ${options.host}.`;
    default:
      return undefined;
  }
}

/** Colours for a terminal, nothing for anything else. */
export function paint(io: Pick<Io, "terminal" | "env">) {
  const on = io.terminal && !io.env["NO_COLOR"];
  const with_ = (style: Parameters<typeof styleText>[0]) => (text: string) =>
    on ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: with_("bold"),
    dim: with_("dim"),
    green: with_("green"),
    red: with_("red"),
    yellow: with_("yellow"),
    cyan: with_("cyan"),
  };
}

/** What `paint` gives. */
const COLOURS = "\u001b\\[(?:1|2|22|3[1236]|39)m";
const CONTROLS = new RegExp(`(${COLOURS})|(?![\\n\\t])\\p{Cc}`, "gu");

/**
 * Text as a terminal may have it. Names, errors and answers were written by others: nothing in them may move the cursor,
 * clear the screen, or set a title or the clipboard.
 */
export const sanitizeForTerminal = (text: string): string =>
  text.replace(CONTROLS, (_, colour: string | undefined) => colour ?? "\u{FFFD}");

/** The log goes to standard error: JSON for machines, lines for a terminal. Secrets never get in. */
export async function openLog(io: Io, level: Level | "silent", name: string): Promise<Logger> {
  const options = {
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: (fields: Record<string, unknown>) => redactSecrets(fields) },
    // Errors are written out before that, with what hangs on them.
    serializers: { err: (written: unknown) => written },
    hooks: { streamWrite: maskKeys },
  };
  if (!io.errTerminal) return machineLog(io, options);
  const { default: pretty } = await import("pino-pretty");
  return pino(
    options,
    pretty({ destination: 2, ignore: "pid,hostname,host,port", singleLine: true, translateTime: "HH:MM:ss" }),
  );
}

/** Resolves when every line is written. */
export const flushLog = (log: Logger): Promise<void> => new Promise((resolve) => log.flush(() => resolve()));

/** Lines are written together, since each write costs as much as a look-up: soon, at once from a warning on, and at the end. */
function machineLog(io: Io, options: LoggerOptions): Logger {
  const destination = pino.destination({ fd: 2, sync: false, minLength: 4_096 });
  const flushLast = (): void => {
    try {
      destination.flushSync();
    } catch {
      // Standard error is gone: there is nobody to tell.
    }
  };
  io.onExit(flushLast);
  // While a write is under way `flush` does nothing at all: what came meanwhile would wait for 4 KB more.
  let asked = false;
  destination.on("drain", () => {
    if (!asked) return;
    asked = false;
    destination.flush();
  });
  const flushNow = (): void => {
    asked = true;
    destination.flush();
  };
  const urgent = pino.levels.values["warn"]!;
  let soon: NodeJS.Timeout | undefined;
  return pino(
    {
      ...options,
      hooks: {
        ...options.hooks,
        logMethod(args, write, level) {
          write.apply(this, args);
          if (level >= urgent) flushNow();
          soon ??= setTimeout(() => {
            soon = undefined;
            flushNow();
          }, LOG_EVERY_MS).unref();
        },
      },
    },
    destination,
  );
}
