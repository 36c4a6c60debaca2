/** Reads the YAML configuration and says of every fault which file, line and key it is in. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isMap, isScalar, LineCounter, type Node, parseDocument, type Document } from "yaml";
import { Config } from "../../schemas/config.ts";
import type { Fault } from "../../schemas/problem.ts";
import { dotted, faultsOf } from "../core/faults.ts";

const LARGEST = 1024 * 1024;

/** A configuration that can't be used. `faults` are lines to print: `config.yaml:3:5: …`. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

export interface LoadedConfig {
  config: Config;
  /** Where it came from; undefined when there is none, which is valid. */
  file: string | undefined;
  /** Variables that it names and that are not set: a fault only of the workflows that need them. */
  warnings: readonly string[];
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
    if (code === "ENOENT" && !required)
      return { config: freeze(Config.parse({})), file: undefined, warnings: [] };
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EISDIR"
          ? "it is a directory"
          : code === "EACCES"
            ? "this user may not read it"
            : message;
    throw new ConfigError([`${file}: can't be read: ${why}`]);
  }
  if (text.length > LARGEST) throw new ConfigError([`${file}: is larger than ${LARGEST / 1024} KiB`]);
  const config = parse(file, text);
  return { config, file, warnings: unsetVariables(config, file, env) };
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

  const parsed = Config.safeParse(document.toJS({ maxAliasCount: 100 }) ?? {}, { reportInput: true });
  if (!parsed.success) {
    const faults = parsed.error.issues.flatMap((issue) =>
      faultsOf({ issues: [issue] } as never, Config).map((fault) => {
        const path =
          fault.code === "unknown_key" ? [...issue.path, fault.path.split(".").at(-1)!] : issue.path;
        return { offset: offsetOf(document, path), line: describe(fault, path) };
      }),
    );
    faults.sort((a, b) => a.offset - b.offset);
    throw new ConfigError(faults.map(({ offset, line }) => `${at(offset)}: ${line}`));
  }
  return freeze(withAbsolutePaths(parsed.data, dirname(resolve(file))));
}

function describe(fault: Fault, path: readonly PropertyKey[]): string {
  const advice =
    fault.did_you_mean !== undefined
      ? `; did you mean ${fault.did_you_mean}?`
      : fault.allowed === undefined || fault.code === "not_allowed"
        ? ""
        : `; allowed are ${fault.allowed.join(", ") || "none, because there are none"}`;
  return `${dotted(path) || "the file"} ${fault.message}${advice}`;
}

/** Where a path stands in the text: its key if it has one, else the nearest thing around it. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const last = path[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === last);
      if (pair) return (pair.key as Node).range?.[0] ?? 0;
    } else {
      const node = document.getIn(path.slice(0, length), true) as Node | undefined;
      if (node?.range) return node.range[0];
    }
  }
  return document.contents?.range?.[0] ?? 0;
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

function unsetVariables(
  config: Config,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const named: [where: string, variable: string | undefined][] = [
    ...config.databases.map(
      (it) => [`databases: ${it.name}`, it.password_var] as [string, string | undefined],
    ),
    ...config.models.map((it) => [`models: ${it.name}`, it.key_var] as [string, string | undefined]),
    ...config.mcp_servers.map(
      (it) => [`mcp_servers: ${it.name}`, it.key_var] as [string, string | undefined],
    ),
    ...config.secrets.map((it) => [`secrets: ${it.name}`, it.key_var] as [string, string | undefined]),
    ["authentication.basic", config.authentication.basic?.smtp_password_var],
  ];
  return named
    .filter(([, variable]) => variable !== undefined && !env[variable])
    .map(
      ([where, variable]) => `${file}: ${where} names the environment variable ${variable}, which is not set`,
    );
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
