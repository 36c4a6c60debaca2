/** Reads and checks the environment variables, once at start. */
import { isIP } from "node:net";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { issuesOf } from "../core/issues.ts";
import { nearMatch } from "../core/near-match.ts";
import { fixedSecrets, type SecretSource } from "../core/secret-source.ts";
import { type OutgoingProxies, proxySecrets, readProxies } from "../core/outgoing-proxy.ts";
import type { StateDatabase } from "../core/postgres-address.ts";
import { Email } from "../../schemas/user.ts";
import type { TracingSettings } from "../core/tracer.ts";
import { ConfigError } from "./config-file.ts";
import { fileVariableName, resolveFileVariables } from "./file-variables.ts";
import { SignOnVariables } from "./sign-on.ts";
import { readStateDatabase, StateDatabaseVariables } from "./state-database.ts";
import { readTracing } from "./tracing.ts";

const PREFIX = "MILLRACE_";
const PLAIN_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/;
const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

function isAddressOrRange(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  return (
    rest.length === 0 &&
    bits > 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}

/** The URL of a server. Its path stands in pages, cookies and redirects, so it is plain: proxies and browsers must agree on it. */
const PublicUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((url) => PLAIN_PATH.test(new URL(url).pathname), {
    message:
      "must have a path of plain names, such as https://example.com/millrace: letters, digits and . _ ~ -",
    params: { code: "wrong_format" },
  });

/** An empty variable counts as not set, because shells and compose files unset variables that way. */
const Environment = z.object({
  MILLRACE_STATE_DIR: z.string().optional(),
  ...StateDatabaseVariables,
  MILLRACE_CONFIG: z.string().optional(),
  MILLRACE_HOST: z.string().optional(),
  MILLRACE_BASE_URL: PublicUrl.optional(),
  MILLRACE_MCP_URL: PublicUrl.optional(),
  MILLRACE_TRUSTED_PROXIES: z
    .string()
    .transform((list) => list.split(/[\s,]+/).filter(Boolean))
    .refine((list) => list.every(isAddressOrRange), {
      message: "must be a list of addresses and ranges, such as 10.0.0.0/8, 192.168.1.7",
    })
    .optional(),
  MILLRACE_LOG_LEVEL: z.enum(LOG_LEVELS).optional(),
  MILLRACE_METRICS_PORT: z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, {
      message: "must be a port: an integer from 0 to 65535",
    })
    .transform(Number)
    .optional(),
  MILLRACE_METRICS_HOST: z.string().optional(),
  MILLRACE_ADMIN_EMAILS: z
    .string()
    .transform((list) => list.split(/[\s,;]+/).filter(Boolean))
    .pipe(z.array(Email))
    .optional(),
  ...SignOnVariables,
  // Read by readProxies, with their forms in lower case.
  HTTPS_PROXY: z.string().optional(),
  HTTP_PROXY: z.string().optional(),
  NO_PROXY: z.string().optional(),
});

/** Variables without a _FILE variant: they are no secrets, and some are needed before files are read. */
const NOT_FILE_BACKED: ReadonlySet<string> = new Set([
  "MILLRACE_STATE_DIR",
  "MILLRACE_DATABASE_CONNECTIONS",
  "MILLRACE_DATABASE_PASSWORD_COMMAND",
  "MILLRACE_DATABASE_PASSWORD_COMMAND_ENV",
  "MILLRACE_CONFIG",
  "MILLRACE_HOST",
  "MILLRACE_METRICS_HOST",
  "MILLRACE_METRICS_PORT",
  "MILLRACE_LOG_LEVEL",
  "NO_PROXY",
]);

/** All variables, and those that can be read from a file. */
export const VARIABLES: readonly string[] = Object.keys(Environment.shape);
export const FILE_BACKED_VARIABLES: readonly string[] = VARIABLES.filter(
  (name) => !NOT_FILE_BACKED.has(name),
);

export interface Settings {
  stateDir: string;
  /** Whether it is the one that every command of this user takes. */
  isDefaultStateDir: boolean;
  /** The PostgreSQL database of the state; undefined for SQLite in the state directory. */
  database: StateDatabase | undefined;
  /** Named by --config or MILLRACE_CONFIG, else config.yaml in the state directory. */
  configFile: string;
  /** Whether the file was named and so must exist. */
  configRequired: boolean;
  baseUrl: URL | undefined;
  /** URL of the MCP server, if it is not port 8000 of this host. */
  mcpUrl: URL | undefined;
  /** Addresses and CIDR ranges. */
  trustedProxies: readonly string[];
  logLevel: (typeof LOG_LEVELS)[number];
  /** Address and port of /metrics; without a port there are no metrics. */
  metrics: { host: string; port: number | undefined };
  /** E-mail addresses, in lower case, of users who are admins whatever their groups at the identity provider. */
  adminEmails: readonly string[];
  /** Variables of the sign-on through an identity provider; only its mode checks them. */
  signOn: SignOnVariables;
  /** The proxies through which requests leave (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). */
  proxies: OutgoingProxies;
  /** Whether traces are recorded (OTEL_* variables). */
  tracing: TracingSettings;
  /** The values of the variables that the configuration names. */
  secrets: SecretSource;
  /** Passwords in these settings, which logs must not show. */
  masked: readonly string[];
  /** Unknown variables that begin with MILLRACE_, and settings that have no effect. */
  warnings: readonly string[];
}

/**
 * The home directory of this user. Containers run with users that have none.
 * @param home HOME; empty counts as not set
 * @throws ConfigError if there is none
 */
function homeDirectory(home: string | undefined): string {
  const advice = "Set MILLRACE_STATE_DIR to a directory that this user may read and write";
  if (home === undefined || home === "")
    try {
      return userInfo().homedir;
    } catch {
      throw new ConfigError([
        `environment: MILLRACE_STATE_DIR is not set, and this user has no home directory: HOME is not set, and the system does not ` +
          `know the user. ${advice}`,
      ]);
    }
  if (isAbsolute(home)) return home;
  throw new ConfigError([
    `environment: MILLRACE_STATE_DIR is not set, and HOME must be an absolute path, got ${JSON.stringify(home)}. ${advice}`,
  ]);
}

/**
 * Reads the settings of the process.
 * @param env the environment of the process
 * @param configOption the value of --config, which takes precedence over MILLRACE_CONFIG
 * @throws ConfigError with all issues
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  configOption?: string,
): Settings {
  const { variables, issues } = resolveFileVariables(env, FILE_BACKED_VARIABLES);
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = Environment.safeParse(given, { reportInput: true });
  const { proxies, ...readings } = readProxies(variables);
  const stored = readStateDatabase(env, variables);
  if (!parsed.success || issues.length + readings.issues.length + stored.issues.length > 0) {
    throw new ConfigError([
      ...issues,
      ...stored.issues.map((issue) => `environment: ${issue}`),
      ...readings.issues.map((issue) => `environment: ${issue}`),
      ...(parsed.success ? [] : issuesOf(parsed.error, Environment)).map(
        ({ path, message }) => `environment: ${path} ${message}`,
      ),
    ]);
  }
  const known = [...VARIABLES, ...FILE_BACKED_VARIABLES.map(fileVariableName)];
  const unknown = Object.keys(given).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const { data } = parsed;
  const stateDir = data.MILLRACE_STATE_DIR ?? join(homeDirectory(env["HOME"]), ".millrace");
  const named = configOption ?? data.MILLRACE_CONFIG;
  const { tracing, warnings } = readTracing(variables, proxies);
  return {
    stateDir,
    isDefaultStateDir: data.MILLRACE_STATE_DIR === undefined,
    database: stored.database,
    configFile: named ?? join(stateDir, "config.yaml"),
    configRequired: named !== undefined,
    baseUrl: data.MILLRACE_BASE_URL === undefined ? undefined : new URL(data.MILLRACE_BASE_URL),
    mcpUrl: data.MILLRACE_MCP_URL === undefined ? undefined : new URL(data.MILLRACE_MCP_URL),
    trustedProxies: data.MILLRACE_TRUSTED_PROXIES ?? [],
    logLevel: data.MILLRACE_LOG_LEVEL ?? "info",
    metrics: { host: data.MILLRACE_METRICS_HOST ?? "127.0.0.1", port: data.MILLRACE_METRICS_PORT },
    adminEmails: data.MILLRACE_ADMIN_EMAILS ?? [],
    signOn: data,
    proxies,
    tracing,
    secrets: fixedSecrets(variables),
    masked: [...proxySecrets(proxies), ...stored.masked],
    warnings: warnings.concat(
      stored.warnings.map((warning) => `environment: ${warning}`),
      readings.warnings.map((warning) => `environment: ${warning}`),
      unknown.map((name) => {
        // Compared without the common prefix, or all names would look alike.
        const withoutPrefix = (whole: string): string => whole.slice(PREFIX.length);
        const near = nearMatch(withoutPrefix(name), known.map(withoutPrefix));
        return `environment: ${name} is not a known variable${near === undefined ? "" : `; did you mean ${PREFIX}${near}?`}`;
      }),
    ),
  };
}
