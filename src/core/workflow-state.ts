/** The state of a workflow by its declaration: the schema of each key, its default, and the issues of values. */
import type { PartialIssue } from "./connections.ts";
import { CompletedTooLarge, completeValue, type JsonSchema, valueIssues } from "./json-schema/index.ts";
import { nearMatch } from "./near-match.ts";

/** The `state` of a definition without issues: a JSON Schema with a default for each key. */
export type StateDeclaration = Readonly<Record<string, JsonSchema>>;

/** Maximum size of the state of a workflow, in characters of JSON. */
const MAX_STATE_CHARS = 256 * 1024;

/** Maximum size of the fields that a declaration fills in, in characters of JSON. */
const MAX_FILLED_CHARS = 4 * 1024 * 1024;

/**
 * The completed values of the keys that are declared; the default of a key that was never written. A value that its
 * declaration would make too large stays as it was written, which `stateIssues` reports.
 */
export function stateValues(
  declaration: StateDeclaration,
  written: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(declaration).map(([key, schema]) => [
      key,
      completed(schema, Object.hasOwn(written, key) ? written[key] : schema["default"]),
    ]),
  );
}

function completed(schema: JsonSchema, value: unknown): unknown {
  try {
    return completeValue(schema, value, MAX_FILLED_CHARS);
  } catch (error) {
    if (error instanceof CompletedTooLarge) return value;
    throw error;
  }
}

/** Checks values against the declaration. Keys may be missing. @returns the issues, with paths below the state */
export function stateIssues(
  declaration: StateDeclaration,
  values: Readonly<Record<string, unknown>>,
): PartialIssue[] {
  const issues = Object.entries(values).flatMap(([key, value]): PartialIssue[] =>
    Object.hasOwn(declaration, key)
      ? valueIssues(declaration[key]!, value).map((issue) =>
          Object.assign({}, issue, { path: [key, ...(issue.path ?? [])] }),
        )
      : [{ ...unknownStateKey(key, Object.keys(declaration)), path: [key] }],
  );
  const chars = JSON.stringify(values).length;
  if (chars > MAX_STATE_CHARS) issues.push(tooLarge(chars));
  return issues;
}

/** The issue of a key that the definition's `state` does not declare. */
export function unknownStateKey(key: string, allowed: readonly string[]): PartialIssue {
  const near = nearMatch(key, allowed);
  return {
    code: "unknown_key",
    message: "is not a key of the workflow's state",
    allowed: [...allowed],
    ...(near !== undefined && { did_you_mean: near }),
    fix: near === undefined ? `Declare it in state: ${key}: { type: …, default: … }.` : `Write ${near}.`,
  };
}

const tooLarge = (chars: number): PartialIssue => ({
  path: [],
  code: "too_large",
  message: `has ${chars} characters of JSON; at most ${MAX_STATE_CHARS} are allowed`,
  fix: "Keep less in it, for example the last id instead of all ids.",
});
