/** Reads the YAML configuration and reports every issue with its file, line and key. */
import { constants, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LineCounter, parseDocument, type Document } from "yaml";
import { Config } from "../../schemas/config.ts";
import type { Issue } from "../../schemas/problem.ts";
import { barrierSentences, findBarrier } from "../core/file-access.ts";
import { formatPath, locatedIssues } from "../core/issues.ts";
import { offsetOf } from "../core/yaml-positions.ts";
import { namedVariables } from "../core/secret-variables.ts";
import { crossChecks } from "./cross-checks.ts";
import { fileOf } from "./file-variables.ts";
import { openSecrets, type Secrets } from "./secrets.ts";
import { isOfEntry, withoutUnusableEntries } from "./unusable-entries.ts";

/** Maximum size of the file, in characters. */
const MAX_LENGTH = 1024 * 1024;

/** Secrets that no configuration names. */
const OWN_SECRETS = ["MILLRACE_OIDC_CLIENT_SECRET"];

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "this user has no permission to read it",
};

/** The state directory does not exist, is a file, or is a loop of links. Opening it later gives a better message. */
const UNUSABLE_DIRECTORY: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** An invalid configuration. `issues` are lines to print: `config.yaml:3:5: …`. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly issues: readonly string[];

  constructor(issues: readonly string[]) {
    super(issues.join("\n"));
    this.issues = issues;
  }
}

export interface LoadedConfig {
  config: Config;
  /** The path of the file; undefined if there is none, which is valid. */
  file: string | undefined;
  /** Entries that can't be used. Only workflows that need them are affected. */
  warnings: readonly string[];
  /** The same for entries whose variables have no value. */
  missing: readonly string[];
  /** The values of the variables that the file names. Those of its command are not read yet. */
  secrets: Secrets;
}

/**
 * Loads and checks the configuration.
 * @param file path of the file
 * @param required whether a missing file is an error; otherwise it is the same as an empty one
 * @param env the environment variables
 * @throws ConfigError with all issues
 */
export function loadConfig(
  file: string,
  required: boolean,
  env: Readonly<Record<string, string | undefined>>,
): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (UNUSABLE_DIRECTORY.has(code ?? "") && !required)
      return {
        config: freeze(Config.parse({})),
        file: undefined,
        warnings: [],
        missing: [],
        secrets: openSecrets(env, [], { own: OWN_SECRETS }),
      };
    const barrier = code === "EACCES" ? findBarrier(file, constants.R_OK) : undefined;
    if (barrier !== undefined && !required)
      throw new ConfigError([
        `${dirname(file)}: the configuration of the state directory can't be read: ${barrierSentences(barrier, dirname(file))}`,
      ]);
    const owner = barrier === undefined ? "" : `: ${barrier.description}`;
    throw new ConfigError([`${file}: cannot be read: ${READ_ERRORS[code ?? ""] ?? message}${owner}`]);
  }
  if (text.length > MAX_LENGTH) throw new ConfigError([`${file}: must be at most ${MAX_LENGTH / 1024} KiB`]);
  const { config, unusable } = parse(file, text);
  const named = namedVariables(config);
  const variables = [...new Set(named.map(({ variable }) => variable))];
  const issues = variables.flatMap((variable) => {
    const found = fileOf(env, variable);
    return found !== undefined && "issue" in found ? [found.issue] : [];
  });
  if (issues.length > 0) throw new ConfigError(issues);
  const secrets = openSecrets(env, variables, { own: OWN_SECRETS, command: config.secret_command });
  const missing = named.flatMap(({ entry, variable }) => {
    const reason = secrets.missingReason(variable);
    return reason === null ? [] : [`${file}: ${entry} can't be used: ${reason}`];
  });
  return { config, file, warnings: unusable, missing, secrets };
}

/** @returns the configuration without the entries that can't be used, and a warning for each of their issues */
function parse(file: string, text: string): { config: Config; unusable: string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const syntaxErrors = [...document.errors, ...document.warnings];
  if (syntaxErrors.length > 0)
    throw new ConfigError(syntaxErrors.map((error) => `${at(error.pos[0])}: ${error.message}`));

  const raw = toPlainObject(file, document);
  const parsed = Config.safeParse(raw, { reportInput: true });
  const issues = [...(parsed.success ? [] : locatedIssues(parsed.error, Config)), ...crossChecks(raw)];
  const found = issues.map(({ path, issue }) => ({ offset: offsetOf(document, path), path, issue }));
  found.sort((a, b) => a.offset - b.offset);
  const lineOf = ({ offset, issue, path }: (typeof found)[number]): string =>
    `${at(offset)}: ${describe(issue, path)}`;
  if (!issues.every(({ path }) => isOfEntry(path))) throw new ConfigError(found.map(lineOf));
  const { usable, unusable } = withoutUnusableEntries(raw, issues, ({ issue, path }) =>
    describe(issue, path),
  );
  const config = { ...withAbsolutePaths(Config.parse(usable), dirname(resolve(file))), unusable };
  return {
    config: freeze(config),
    unusable: found.map((issue) => `${lineOf(issue)}; this entry can't be used until it is corrected`),
  };
}

/** @throws ConfigError if aliases expand too much */
function toPlainObject(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${file}: cannot be read: ${(error as Error).message}`]);
  }
}

function describe(issue: Issue, path: readonly PropertyKey[]): string {
  const advice =
    issue.did_you_mean !== undefined
      ? `; did you mean ${issue.did_you_mean}?`
      : issue.allowed === undefined || issue.code === "not_allowed"
        ? ""
        : `; allowed: ${issue.allowed.join(", ") || "nothing, because no entry is defined"}`;
  return `${formatPath(path) || "the file"} ${issue.message}${advice}`;
}

const isFile = (type: string): boolean => type === "sqlite" || type === "duckdb";

/** Resolves file paths relative to the configuration file, not to the working directory. */
function withAbsolutePaths(config: Config, base: string): Config {
  const { secret_command: command } = config;
  return {
    ...config,
    // A name without a slash is looked up in PATH.
    ...(command?.command.includes("/") && {
      secret_command: { ...command, command: resolve(base, command.command) },
    }),
    databases: config.databases.map((database) =>
      isFile(database.type) ? { ...database, dataset: resolve(base, database.dataset) } : database,
    ),
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
