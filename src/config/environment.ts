/** The environment variables of the program itself, read once. */
import { isIP } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { issuesOf } from "../core/issues.ts";
import { nearMatch } from "../core/near-match.ts";
import { Email } from "../../schemas/user.ts";
import type { TracingSettings } from "../core/tracer.ts";
import { ConfigError } from "./config-file.ts";
import { fileVariableName, resolveFileVariables } from "./file-variables.ts";
import { SignOnVariables } from "./sign-on.ts";
import { readTracing } from "./tracing.ts";

const PREFIX = "MILLRACE_";
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

/** Empty is the same as not set: that is how shells and compose files unset. */
const Environment = z.object({
  MILLRACE_STATE_DIR: z.string().optional(),
  MILLRACE_CONFIG: z.string().optional(),
  MILLRACE_HOST: z.string().optional(),
  MILLRACE_BASE_URL: z.url({ protocol: /^https?$/ }).optional(),
  MILLRACE_MCP_URL: z.url({ protocol: /^https?$/ }).optional(),
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
      message: "must be a port: a whole number from 0 to 65535",
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
});

/** No file holds their values: places that are asked for before, or what the command line looks at itself. */
const AS_THEY_ARE: ReadonlySet<string> = new Set([
  "MILLRACE_STATE_DIR",
  "MILLRACE_CONFIG",
  "MILLRACE_HOST",
  "MILLRACE_METRICS_HOST",
  "MILLRACE_METRICS_PORT",
  "MILLRACE_LOG_LEVEL",
]);

/** Every variable, and of those the ones whose value may stand in a file. */
export const VARIABLES: readonly string[] = Object.keys(Environment.shape);
export const FILE_BACKED_VARIABLES: readonly string[] = VARIABLES.filter((name) => !AS_THEY_ARE.has(name));

const PATH_IGNORED =
  "environment: MILLRACE_BASE_URL has a path, and everything is served from the root of its host: give Millrace a host " +
  "name of its own, and leave the path out";

export interface Settings {
  stateDir: string;
  /** Named by MILLRACE_CONFIG, or where one is looked for in the state directory. */
  configFile: string;
  /** Whether it was named: then it must exist. */
  configRequired: boolean;
  baseUrl: URL | undefined;
  /** Where agents reach the MCP server, when it is not this host's port 8000. */
  mcpUrl: URL | undefined;
  /** Addresses and CIDR ranges. */
  trustedProxies: readonly string[];
  logLevel: (typeof LOG_LEVELS)[number];
  /** Where metrics are read; without a port there are none. */
  metrics: { host: string; port: number | undefined };
  /** Who is an admin whatever the identity provider's groups say: addresses in lower case. */
  adminEmails: readonly string[];
  /** What the sign-on by an identity provider is set up with; looked at by its mode alone. */
  signOn: SignOnVariables;
  /** Whether traces are made: OTEL_* variables. */
  tracing: TracingSettings;
  /** All variables, and those whose values stand in files. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Variables that look like ours and are not, or that say what can't be had. */
  warnings: readonly string[];
}

/**
 * @param env the process's environment
 * @param configOption the value of --config, which goes before MILLRACE_CONFIG
 * @throws ConfigError with every fault at once
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
  if (!parsed.success || issues.length > 0) {
    throw new ConfigError([
      ...issues,
      ...(parsed.success ? [] : issuesOf(parsed.error, Environment)).map(
        (it) => `environment: ${it.path} ${it.message}`,
      ),
    ]);
  }
  const known = [...VARIABLES, ...FILE_BACKED_VARIABLES.map(fileVariableName)];
  const strangers = Object.keys(given).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const { data } = parsed;
  const stateDir = data.MILLRACE_STATE_DIR ?? join(homedir(), ".millrace");
  const named = configOption ?? data.MILLRACE_CONFIG;
  const { tracing, warnings } = readTracing(variables);
  const baseUrl = data.MILLRACE_BASE_URL === undefined ? undefined : new URL(data.MILLRACE_BASE_URL);
  return {
    stateDir,
    configFile: named ?? join(stateDir, "config.yaml"),
    configRequired: named !== undefined,
    baseUrl,
    mcpUrl: data.MILLRACE_MCP_URL === undefined ? undefined : new URL(data.MILLRACE_MCP_URL),
    trustedProxies: data.MILLRACE_TRUSTED_PROXIES ?? [],
    logLevel: data.MILLRACE_LOG_LEVEL ?? "info",
    metrics: { host: data.MILLRACE_METRICS_HOST ?? "127.0.0.1", port: data.MILLRACE_METRICS_PORT },
    adminEmails: data.MILLRACE_ADMIN_EMAILS ?? [],
    signOn: data,
    tracing,
    variables,
    warnings: warnings.concat(
      baseUrl === undefined || baseUrl.pathname === "/" ? [] : [PATH_IGNORED],
      strangers.map((name) => {
        // Without what all of them share, or everything would look alike.
        const own = (whole: string): string => whole.slice(PREFIX.length);
        const near = nearMatch(own(name), known.map(own));
        return `environment: ${name} is not known${near === undefined ? "" : `; did you mean ${PREFIX}${near}?`}`;
      }),
    ),
  };
}
