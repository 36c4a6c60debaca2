/** Reads the YAML configuration and says of every fault which file, line and key it is in. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LineCounter, parseDocument, type Document } from "yaml";
import { Config } from "../../schemas/config.ts";
import type { Issue } from "../../schemas/problem.ts";
import { formatPath, locatedIssues } from "../core/issues.ts";
import { offsetOf } from "../core/yaml-positions.ts";
import { describeVariable } from "../core/variables.ts";
import { crossChecks } from "./cross-checks.ts";
import { resolveFileVariables } from "./file-variables.ts";

const LARGEST = 1024 * 1024;

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "this user may not read it",
};

/** A configuration that can't be used. `faults` are lines to print: `config.yaml:3:5: …`. */
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
  /** Where it came from; undefined when there is none, which is valid. */
  file: string | undefined;
  /** Variables that it names and that are not set: a fault only of the workflows that need them. */
  warnings: readonly string[];
  /** The environment, and the values of the variables that it names and whose values stand in files. */
  variables: Readonly<Record<string, string | undefined>>;
}

/**
 * @param file what to read
 * @param required whether a missing file is a fault (it was asked for by name) or the same as none
 * @param env where named variables are looked up
 * @throws ConfigError with every fault at once
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
    // ENOTDIR: the state directory is no directory, which opening it tells better.
    if ((code === "ENOENT" || code === "ENOTDIR") && !required)
      return { config: freeze(Config.parse({})), file: undefined, warnings: [], variables: env };
    throw new ConfigError([`${file}: can't be read: ${READ_ERRORS[code ?? ""] ?? message}`]);
  }
  if (text.length > LARGEST) throw new ConfigError([`${file}: is larger than ${LARGEST / 1024} KiB`]);
  const config = parse(file, text);
  const named = namedVariables(config);
  const { variables, issues } = resolveFileVariables(
    env,
    named.map(({ variable }) => variable),
  );
  if (issues.length > 0) throw new ConfigError(issues);
  const warnings = named
    .filter(({ variable }) => !variables[variable])
    .map(({ where, variable }) => `${file}: ${where} names ${describeVariable(variable)}, which is not set`);
  return { config, file, warnings, variables };
}

function parse(file: string, text: string): Config {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0)
    throw new ConfigError(broken.map((error) => `${at(error.pos[0])}: ${error.message}`));

  const raw = plain(file, document);
  const parsed = Config.safeParse(raw, { reportInput: true });
  const issues = [...(parsed.success ? [] : locatedIssues(parsed.error, Config)), ...crossChecks(raw)];
  if (!parsed.success || issues.length > 0) {
    const found = issues.map(({ path, issue }) => ({ offset: offsetOf(document, path), path, issue }));
    found.sort((a, b) => a.offset - b.offset);
    throw new ConfigError(found.map((it) => `${at(it.offset)}: ${describe(it.issue, it.path)}`));
  }
  return freeze(withAbsolutePaths(parsed.data, dirname(resolve(file))));
}

/** @throws ConfigError when aliases multiply without end */
function plain(file: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw new ConfigError([`${file}: can't be read: ${(error as Error).message}`]);
  }
}

function describe(issue: Issue, path: readonly PropertyKey[]): string {
  const advice =
    issue.did_you_mean !== undefined
      ? `; did you mean ${issue.did_you_mean}?`
      : issue.allowed === undefined || issue.code === "not_allowed"
        ? ""
        : `; allowed are ${issue.allowed.join(", ") || "none, because there are none"}`;
  return `${formatPath(path) || "the file"} ${issue.message}${advice}`;
}

const isFile = (type: string): boolean => type === "sqlite" || type === "duckdb";

/** File paths are meant from where the file is, not from where the program was started. */
function withAbsolutePaths(config: Config, base: string): Config {
  return {
    ...config,
    databases: config.databases.map((it) =>
      isFile(it.type) ? { ...it, dataset: resolve(base, it.dataset) } : it,
    ),
  };
}

/** The variables that a configuration names, and where. */
function namedVariables(config: Config): { where: string; variable: string }[] {
  const { databases, models, mcp_servers, secrets, authentication } = config;
  const all = [
    ...databases.map((it) => ({ where: `databases: ${it.name}`, variable: it.password_var })),
    ...models.map((it) => ({ where: `models: ${it.name}`, variable: it.key_var })),
    ...mcp_servers.flatMap((it) =>
      [it.key_var, ...Object.values(it.env ?? {})].map((variable) => ({
        where: `mcp_servers: ${it.name}`,
        variable,
      })),
    ),
    ...secrets.map((it) => ({ where: `secrets: ${it.name}`, variable: it.key_var })),
    { where: "authentication.basic", variable: authentication.basic?.smtp_password_var },
  ];
  return all.flatMap(({ where, variable }) => (variable === undefined ? [] : [{ where, variable }]));
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
