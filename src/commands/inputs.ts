/** The inputs of a run from the command line. */
import { readFileSync } from "node:fs";
import { jsonLossIssues } from "../core/json-text.ts";
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
  const inputs = file === undefined ? {} : readInputsFile(file);
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
  if (typeof given === "object" && given !== null && !Array.isArray(given))
    return given as Record<string, unknown>;
  throw usageError(`--given must be a JSON object of outputs by step id, such as {"send": {}}, got ${text}.`);
}

function readInputsFile(file: string): Record<string, unknown> {
  const source = file === "-" ? "standard input" : file;
  let text: string;
  let parsed: unknown;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
    parsed = JSON.parse(text);
  } catch (error) {
    throw usageError(`--inputs-file: ${source} cannot be read as JSON: ${fileProblem(error)}.`);
  }
  assertNothingLost(text, `--inputs-file: ${source}`);
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>;
  throw usageError(`--inputs-file: ${source} must hold one JSON object, such as {"since": "2026-01-01"}.`);
}

function isText(schema: Readonly<Record<string, unknown>> | null, name: string): boolean {
  const properties = schema?.["properties"] as Readonly<Record<string, unknown>> | undefined;
  const property = properties?.[name] as { type?: unknown } | undefined;
  return [property?.type].flat().includes("string");
}

/** Parses JSON; anything else is text, which the check of the inputs accepts or refuses. */
function jsonOrText(value: string, option: string): unknown {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return value;
  }
  assertNothingLost(value, option);
  return parsed;
}

/**
 * @param text valid JSON
 * @throws CommandError with all numbers that would change, and all keys that occur twice
 */
function assertNothingLost(text: string, option: string): void {
  const issues = jsonLossIssues(text);
  if (issues.length === 0) return;
  const lines = issues.map(
    ({ path, message, fix }) => `${option}: ${[path, message].filter(Boolean).join(" ")}. ${fix}`,
  );
  throw usageError(lines.join("\n"));
}
