/** The inputs of a run as they are given on the command line. */
import { readFileSync } from "node:fs";
import { CommandError, EXIT } from "./io.ts";

const usage = (message: string): CommandError => new CommandError(message, EXIT.usage);

/**
 * Puts a run's inputs together.
 * @param pairs `name=value`: text where the schema says string; else JSON, and text where it is none
 * @param file a file with a JSON object, `-` for standard input; `pairs` go before it
 * @param schema the workflow's `inputs`, where it has any
 */
export function parseRunInputs(
  pairs: readonly string[],
  file: string | undefined,
  schema: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> {
  const given = file === undefined ? {} : fromFile(file);
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw usage(`--input ${pair} is no name=value. Write --input since=2026-01-01.`);
    given[name] = isText(schema, name) ? value : jsonOrText(value);
  }
  return given;
}

function fromFile(file: string): Record<string, unknown> {
  const shown = file === "-" ? "Standard input" : file;
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"));
  } catch (error) {
    throw usage(`--inputs-file: ${shown} can't be read as JSON: ${(error as Error).message}`);
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>;
  throw usage(`--inputs-file: ${shown} must hold one JSON object: {"since": "2026-01-01"}.`);
}

function isText(schema: Readonly<Record<string, unknown>> | null, name: string): boolean {
  const properties = schema?.["properties"] as Readonly<Record<string, unknown>> | undefined;
  const property = properties?.[name] as { type?: unknown } | undefined;
  return [property?.type].flat().includes("string");
}

/** What is no JSON is text: whether it may be the checker of inputs says better. */
function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
