/** What must never be read in a log: hidden by its name where it is a field, by its look wherever it stands. */
import { pino } from "pino";

/** Secrets, and what may hold them. In small letters, as headers come. */
const NAMES: ReadonlySet<string> = new Set([
  "headers",
  // What the libraries of models hang on their errors: the prompt, and the answer.
  "requestbodyvalues",
  "responsebody",
  "value",
]);
/** Whatever is called so in the end: refresh_token, apiKey, set-cookie. */
const ENDING = /(?:token|secret|password|cookie|authorization|api[-_]?key)$/;
const OIDC = "x-amzn-oidc-";
const HIDDEN = "[hidden]";
/** At the top of a line, and so many levels below it. */
const DEPTH = 5;

/**
 * The fields of a line without secrets. (pino's own `redact` does the same, but takes 25 µs for a line with these names
 * at three depths; this takes less than 1 µs.)
 */
export function redactSecrets(
  fields: Readonly<Record<string, unknown>>,
  depth = DEPTH,
): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const shown =
      isSecret(name) && value !== undefined ? HIDDEN : depth === 0 ? value : below(value, depth - 1);
    if (shown !== value) (copy ??= { ...fields })[name] = shown;
  }
  return copy ?? fields;
}

const isSecret = (name: string): boolean => {
  const small = name.toLowerCase();
  return NAMES.has(small) || ENDING.test(small) || small.startsWith(OIDC);
};

function below(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const shown = items.map((it) => (depth === 0 ? it : below(it, depth - 1)));
    return shown.some((it, index) => it !== items[index]) ? shown : value;
  }
  // With whatever a library has hung on it: requests, answers.
  const plain = value instanceof Error ? pino.stdSerializers.err(value) : value;
  return redactSecrets(plain as Record<string, unknown>, depth);
}

/** The text of a line with API keys masked: in a path, in a message, in somebody's error. */
export const maskKeys = (line: string): string => line.replace(/mill_[0-9A-Za-z]{36}/g, "mill_[hidden]");
