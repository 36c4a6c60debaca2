/** The PostgreSQL database that holds the state, and where the password of each new connection comes from. */
import { z } from "zod";
import { AppError } from "../core/errors.ts";
import { parsePostgresUrl, type StateDatabase } from "../core/postgres-address.ts";
import { fileOf, fileVariableName } from "./file-variables.ts";
import { runSecretCommand } from "./secret-command.ts";
import { readSecretFile } from "./secret-file.ts";
import type { Reading } from "./secret-text.ts";

/** One to read, and one to write. */
const MIN_CONNECTIONS = 2;
const DEFAULT_CONNECTIONS = 10;

export const StateDatabaseVariables = {
  MILLRACE_DATABASE_URL: z.string().optional(),
  MILLRACE_DATABASE_LISTEN_URL: z.string().optional(),
  MILLRACE_DATABASE_PASSWORD: z.string().optional(),
  MILLRACE_DATABASE_PASSWORD_COMMAND: z.string().optional(),
  MILLRACE_DATABASE_PASSWORD_COMMAND_ENV: z.string().optional(),
  MILLRACE_DATABASE_CONNECTIONS: z
    .string()
    .refine((text) => /^\d{1,4}$/.test(text) && Number(text) >= MIN_CONNECTIONS, {
      message: `must be an integer between ${MIN_CONNECTIONS} and 9999`,
    })
    .transform(Number)
    .optional(),
};

const URL_VARIABLE = "MILLRACE_DATABASE_URL";
const LISTEN_URL = "MILLRACE_DATABASE_LISTEN_URL";
const PASSWORD = "MILLRACE_DATABASE_PASSWORD";
const COMMAND = "MILLRACE_DATABASE_PASSWORD_COMMAND";
const COMMAND_ENV = "MILLRACE_DATABASE_PASSWORD_COMMAND_ENV";
/** Maximum duration of the command. */
const COMMAND_TIMEOUT = "10s";

type Variables = Readonly<Record<string, string | undefined>>;

interface ReadStateDatabase {
  /** Undefined for SQLite, and with an issue. */
  database: StateDatabase | undefined;
  /** Passwords, to mask them. */
  masked: readonly string[];
  /** Clauses that begin with a variable. They repeat no value, which may contain a password. */
  issues: readonly string[];
  warnings: readonly string[];
}

/**
 * Reads the variables of the database.
 * @param env the environment of the process
 * @param variables the same, with the values of those that name files
 */
export function readStateDatabase(env: Variables, variables: Variables): ReadStateDatabase {
  const none = { database: undefined, masked: [], issues: [], warnings: [] };
  const text = variables[URL_VARIABLE];
  if (!text) {
    const useless = [LISTEN_URL, PASSWORD, COMMAND].filter((name) => variables[name]);
    return { ...none, warnings: useless.map((name) => `${name} has no effect without ${URL_VARIABLE}`) };
  }
  const parsed = parsePostgresUrl(text);
  if ("issue" in parsed) return { ...none, issues: [`${URL_VARIABLE} ${parsed.issue}`] };
  const { address, password } = parsed;
  const sources = [
    ...(password === undefined ? [] : [`a password in ${URL_VARIABLE}`]),
    ...(variables[PASSWORD] ? [PASSWORD] : []),
    ...(variables[COMMAND] ? [COMMAND] : []),
  ];
  if (sources.length > 1)
    return { ...none, issues: [`${sources.join(" and ")} are both set. Set only one of them`] };
  const command = variables[COMMAND] ? parseCommand(variables[COMMAND]) : undefined;
  if (command !== undefined && "issue" in command)
    return { ...none, issues: [`${COMMAND} ${command.issue}`] };
  const listening = variables[LISTEN_URL] ? parsePostgresUrl(variables[LISTEN_URL]) : undefined;
  if (listening !== undefined && "issue" in listening)
    return { ...none, issues: [`${LISTEN_URL} ${listening.issue}`] };
  if (listening?.password !== undefined)
    return { ...none, issues: [`${LISTEN_URL} has a password; it uses that of ${URL_VARIABLE}. Remove it`] };
  const file = fileOf(env, PASSWORD);
  return {
    ...none,
    database: {
      address,
      listenAddress: listening?.address ?? address,
      maxConnections: Number(variables["MILLRACE_DATABASE_CONNECTIONS"] || DEFAULT_CONNECTIONS),
      async readPassword() {
        if (command !== undefined) return valueOf(COMMAND, await run(command.words, env));
        // A rotation replaces the file.
        if (file !== undefined && "path" in file)
          return valueOf(fileVariableName(PASSWORD), readSecretFile(file.path));
        return password ?? (variables[PASSWORD] || undefined);
      },
    },
    masked: [password, variables[PASSWORD]].filter((value): value is string => Boolean(value)),
  };
}

/** A list of words: JSON, or words that spaces separate. No shell reads it. */
function parseCommand(text: string): { words: readonly [string, ...string[]] } | { issue: string } {
  const issue =
    'must be a command such as get-password --user millrace, or a JSON array such as ["get-password", "--user", "millrace"]';
  if (!text.trimStart().startsWith("[")) {
    const [program, ...args] = text.trim().split(/\s+/);
    return program ? { words: [program, ...args] } : { issue };
  }
  try {
    const [program, ...args] = z.array(z.string().min(1)).parse(JSON.parse(text));
    return program === undefined ? { issue } : { words: [program, ...args] };
  } catch {
    return { issue };
  }
}

/** Runs the command with the variables that may be seen by it, as `secret_command` of the configuration does. */
function run([command, ...args]: readonly [string, ...string[]], env: Variables): Promise<Reading> {
  const names = (env[COMMAND_ENV] ?? "").split(/[\s,]+/).filter(Boolean);
  return runSecretCommand(
    { command, args, env: names, timeout: COMMAND_TIMEOUT },
    PASSWORD,
    env,
    new AbortController().signal,
  );
}

function valueOf(variable: string, reading: Reading): string {
  if ("value" in reading) return reading.value;
  throw new AppError(
    "storage_unavailable",
    `The password of the database can't be read: ${variable} ${reading.problem}. Check the variable and what it names.`,
    { headers: { "Retry-After": "5" } },
  );
}
