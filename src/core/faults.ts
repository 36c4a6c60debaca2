/** From zod's issues to faults that say what to do: all at once, each with its path, the allowed set, a near match. */
import type { z } from "zod";
import type { Fault } from "../../schemas/problem.ts";
import { AppError } from "./errors.ts";
import { nearMatch } from "./near-match.ts";

type Issue = z.core.$ZodIssue;

/** A path as people write it: `steps[2].id`. */
export function dotted(path: readonly PropertyKey[]): string {
  let out = "";
  for (const part of path) {
    if (typeof part === "number") out += `[${part}]`;
    else out += out === "" ? String(part) : `.${String(part)}`;
  }
  return out;
}

/** The words that may stand at `path` of an object schema: its keys. Empty where it is open or no object. */
export function allowedKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let here: unknown = schema;
  for (const part of [...path, undefined]) {
    here = unwrap(here);
    const def = (here as { def?: { type: string; shape?: Record<string, unknown>; element?: unknown } })?.def;
    if (def === undefined) return [];
    if (part === undefined) return def.type === "object" ? Object.keys(def.shape ?? {}) : [];
    here = typeof part === "number" ? def.element : def.shape?.[String(part)];
  }
  return [];
}

function unwrap(schema: unknown): unknown {
  let here = schema;
  for (;;) {
    const inner = (here as { def?: { innerType?: unknown } })?.def?.innerType;
    if (inner === undefined) return here;
    here = inner;
  }
}

const kinds: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
const kind = (type: string): string => kinds[type] ?? type;

const received = (input: unknown): string => {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return kind(typeof input);
};

function plural(count: number | bigint, origin: string): string {
  if (origin === "string") return `${count} character${count === 1 ? "" : "s"}`;
  if (origin === "array") return `${count} item${count === 1 ? "" : "s"}`;
  return String(count);
}

/** The fault of a key that does not belong there. */
export function unknownKey(path: string, key: string, allowed: readonly string[], fix?: string): Fault {
  const near = nearMatch(key, allowed);
  return {
    path,
    code: "unknown_key",
    message: "is not known here",
    ...(allowed.length > 0 && { allowed: [...allowed] }),
    ...(near !== undefined && { did_you_mean: near }),
    fix: fix ?? (near === undefined ? "Leave it out." : `Write ${near}, or leave it out.`),
  };
}

/** One zod issue as one or more faults. */
function toFaults(issue: Issue, schema: z.ZodType): Fault[] {
  const path = dotted(issue.path);
  switch (issue.code) {
    case "unrecognized_keys": {
      const allowed = allowedKeys(schema, issue.path);
      return issue.keys.map((key) => unknownKey(dotted([...issue.path, key]), key, allowed));
    }
    case "invalid_type": {
      if (issue.input === undefined) {
        return [{ path, code: "missing", message: "is missing", fix: `Give it: ${kind(issue.expected)}.` }];
      }
      return [
        {
          path,
          code: "wrong_type",
          message: `must be ${kind(issue.expected)}, not ${received(issue.input)}`,
        },
      ];
    }
    case "invalid_value": {
      const allowed = issue.values.map(String);
      const given = String(issue.input);
      const near = typeof issue.input === "string" ? nearMatch(given, allowed) : undefined;
      return [
        {
          path,
          code: issue.input === undefined ? "missing" : "not_allowed",
          message: issue.input === undefined ? "is missing" : `must be one of ${allowed.join(", ")}`,
          allowed,
          ...(near !== undefined && { did_you_mean: near }),
        },
      ];
    }
    case "too_big": {
      const long = issue.origin === "string" || issue.origin === "array";
      return [
        {
          path,
          code: long ? "too_long" : "too_large",
          message: `must be at most ${plural(issue.maximum, issue.origin)}`,
        },
      ];
    }
    case "too_small": {
      const short = issue.origin === "string" || issue.origin === "array";
      return [
        {
          path,
          code: short ? "too_short" : "too_small",
          message:
            issue.origin === "string" && issue.minimum === 1
              ? "must not be empty"
              : `must be at least ${plural(issue.minimum, issue.origin)}`,
        },
      ];
    }
    case "invalid_format":
      return [
        {
          path,
          code: "wrong_format",
          message: issue.pattern ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`,
        },
      ];
    case "custom": {
      // `params` of our own checks: the fault's code, and what would have been allowed.
      const { code, allowed } = (issue.params ?? {}) as { code?: string; allowed?: string[] };
      const near = allowed && typeof issue.input === "string" ? nearMatch(issue.input, allowed) : undefined;
      return [
        {
          path,
          code: code ?? "invalid",
          message: issue.message,
          ...(allowed && { allowed }),
          ...(near !== undefined && { did_you_mean: near }),
        },
      ];
    }
    default:
      return [{ path, code: "invalid", message: issue.message }];
  }
}

/** All issues as faults, in the order in which they were found. */
export function faultsOf(error: z.ZodError, schema: z.ZodType): Fault[] {
  return error.issues.flatMap((issue) => toFaults(issue, schema));
}

/** Faults as the error that tells them. The message repeats the first ones, for clients that show nothing else. */
export function invalidInput(errors: Fault[]): AppError {
  const shown = errors.slice(0, 3).map((fault) => `${fault.path || "The input"} ${fault.message}.`);
  if (errors.length > 3) shown.push(`And ${errors.length - 3} more, see errors.`);
  return new AppError("invalid_input", shown.join(" "), { errors });
}

/**
 * Parses with a schema, or throws `invalid_input` with every fault.
 * @param found faults that were found before, told together with those of the schema
 * @throws AppError invalid_input
 */
export function parseInput<T extends z.ZodType>(
  schema: T,
  raw: unknown,
  found: readonly Fault[] = [],
): z.output<T> {
  const parsed = schema.safeParse(raw, { reportInput: true });
  const faults = parsed.success ? found : [...found, ...faultsOf(parsed.error, schema)];
  if (parsed.success && faults.length === 0) return parsed.data;
  throw invalidInput([...faults]);
}
