/** The environment variables of the program itself, read once. */
import { isIP } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { faultsOf } from "../core/faults.ts";
import { nearMatch } from "../core/near-match.ts";
import { ConfigError } from "./config-file.ts";

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
  MILLRACE_TEST_FIXTURES: z.string().optional(),
});

export interface Settings {
  stateDir: string;
  /** Named by MILLRACE_CONFIG, or where one is looked for in the state directory. */
  configFile: string;
  /** Whether it was named: then it must exist. */
  configNamed: boolean;
  baseUrl: URL | undefined;
  /** Where agents reach the MCP server, when it is not this host's port 8000. */
  mcpUrl: URL | undefined;
  /** Addresses and CIDR ranges. */
  trustedProxies: readonly string[];
  logLevel: (typeof LOG_LEVELS)[number];
  /** A module that adds fixtures to the MCP server; for tests only. */
  fixtures: string | undefined;
  /** All variables, for the secrets that the configuration names. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Variables that look like ours and are not. */
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
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = Environment.safeParse(given, { reportInput: true });
  if (!parsed.success) {
    throw new ConfigError(
      faultsOf(parsed.error, Environment).map((it) => `environment: ${it.path} ${it.message}`),
    );
  }
  const known = Object.keys(Environment.shape);
  const strangers = Object.keys(given).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const { data } = parsed;
  const stateDir = data.MILLRACE_STATE_DIR ?? join(homedir(), ".millrace");
  const named = configOption ?? data.MILLRACE_CONFIG;
  return {
    stateDir,
    configFile: named ?? join(stateDir, "config.yaml"),
    configNamed: named !== undefined,
    baseUrl: data.MILLRACE_BASE_URL === undefined ? undefined : new URL(data.MILLRACE_BASE_URL),
    mcpUrl: data.MILLRACE_MCP_URL === undefined ? undefined : new URL(data.MILLRACE_MCP_URL),
    trustedProxies: data.MILLRACE_TRUSTED_PROXIES ?? [],
    logLevel: data.MILLRACE_LOG_LEVEL ?? "info",
    fixtures: data.MILLRACE_TEST_FIXTURES,
    variables: env,
    warnings: strangers.map((name) => {
      // Without what all of them share, or everything would look alike.
      const own = (whole: string): string => whole.slice(PREFIX.length);
      const near = nearMatch(own(name), known.map(own));
      return `environment: ${name} is not known${near === undefined ? "" : `; did you mean ${PREFIX}${near}?`}`;
    }),
  };
}
