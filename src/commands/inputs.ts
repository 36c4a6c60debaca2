/** The inputs of a run from the command line. */
import { readFileSync } from "node:fs";
import { readJson } from "../core/json-text.ts";
import type { Issue } from "../../schemas/problem.ts";
import { fileProblem } from "./file-problem.ts";
import { CommandError, EXIT } from "./io.ts";

const usageError = (message: string): CommandError => new CommandError(message, EXIT.usage);

/**
 * Combines the inputs of a run.
 * @param pairs `name=value`: text if the schema says string, else JSON, and text if it is not valid JSON
 * @param file a file with a JSON object, `-` for standard input; `pairs` take precedence over it
 * @param schema the `inputs` of the workflow, if it has any
 */
export function parseRunInputs(
  pairs: readonly string[],
  file: string | undefined,
  schema: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> {
  const inputs = file === undefined ? {} : readObjectFile(file, "--inputs-file");
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw usageError(
        `--input must be name=value, got ${pair}. Write for example --input since=2026-01-01.`,
      );
    inputs[name] = isText(schema, name) ? value : jsonOrText(value, `--input ${name}`);
  }
  return inputs;
}

/** Parses `--given`: outputs by step id. */
export function parseGiven(text: string): Record<string, unknown> {
  const given = jsonOrText(text, "--given");
  if (isObject(given)) return given;
  throw usageError(`--given must be a JSON object of outputs by step id, such as {"send": {}}, got ${text}.`);
}

/**
 * Parses an option that is a JSON object, or `@` and the name of a file with one.
 * @throws CommandError for anything else
 */
export function parseObject(text: string, option: string): Record<string, unknown> {
  if (text.startsWith("@")) return readObjectFile(text.slice(1), option);
  const parsed = jsonOrText(text, option);
  if (isObject(parsed)) return parsed;
  throw usageError(`${option} must be a JSON object, or @ and the name of a file with one, got ${text}.`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readObjectFile(file: string, option: string): Record<string, unknown> {
  const source = file === "-" ? "standard input" : file;
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(readFileSync(file === "-" ? 0 : file, "utf8"));
  } catch (error) {
    throw usageError(`${option}: ${source} cannot be read as JSON: ${fileProblem(error)}.`);
  }
  const parsed = valueOf(read, `${option}: ${source}`);
  if (isObject(parsed)) return parsed;
  throw usageError(`${option}: ${source} must hold one JSON object, such as {"since": "2026-01-01"}.`);
}

function isText(schema: Readonly<Record<string, unknown>> | null, name: string): boolean {
  const properties = schema?.["properties"] as Readonly<Record<string, unknown>> | undefined;
  const property = properties?.[name] as { type?: unknown } | undefined;
  return [property?.type].flat().includes("string");
}

/**
 * Parses JSON; anything else is text, which the check of the value accepts or refuses.
 * @param option what the value belongs to, for messages
 * @throws CommandError as `valueOf`
 */
export function jsonOrText(text: string, option: string): unknown {
  let read: ReturnType<typeof readJson>;
  try {
    read = readJson(text);
  } catch {
    return text;
  }
  return valueOf(read, option);
}

/** @throws CommandError with all numbers that are too long, and all keys that occur twice */
function valueOf({ value, issues }: { value: unknown; issues: readonly Issue[] }, option: string): unknown {
  if (issues.length === 0) return value;
  const lines = issues.map(
    ({ path, message, fix }) => `${option}: ${[path, message].filter(Boolean).join(" ")}. ${fix}`,
  );
  throw usageError(lines.join("\n"));
}
