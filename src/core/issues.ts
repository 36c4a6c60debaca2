/** From zod's issues to faults that say what to do: all at once, each with its path, the allowed set, a near match. */
import type { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "./errors.ts";
import { nearMatch } from "./near-match.ts";

type ZodIssue = z.core.$ZodIssue;

/** As many unknown keys of one object are told: each costs a search for what was meant, a megabyte holds 100,000. */
export const MAX_UNKNOWN_KEYS = 100;
/** As many faults of one input are told; whoever has more has enough to mend. */
const MAX_ISSUES = 200;
/** As much of a key that somebody sent, and of a path of such keys, is repeated, in characters. */
const LONGEST_KEY = 100;
const LONGEST_PATH = 500;
/** As many keys or faults are named in one sentence. */
const SHOWN = 10;

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`;

/** A path as people write it: `steps[2].id`. What is very long is cut: an answer must not be as large as what was sent. */
export function formatPath(path: readonly PropertyKey[]): string {
  let out = "";
  for (const part of path) {
    if (typeof part === "number") out += `[${part}]`;
    else out += `${out === "" ? "" : "."}${cut(String(part), LONGEST_KEY)}`;
    if (out.length > LONGEST_PATH) break;
  }
  return cut(out, LONGEST_PATH);
}

/**
 * The words that may stand at `path` of an object schema: its keys. Empty where it is open or no object. Of a union
 * whose forms a key tells apart, `input` (what stands there) says which; of any other, the keys of every form.
 */
export function allowedKeys(schema: z.ZodType, path: readonly PropertyKey[], input?: unknown): string[] {
  return [...new Set(keysAt(schema, path, input))];
}

interface AnyDef {
  type: string;
  shape?: Readonly<Record<string, unknown>>;
  element?: unknown;
  valueType?: unknown;
  options?: readonly unknown[];
  discriminator?: string;
}

function keysAt(schema: unknown, path: readonly PropertyKey[], input: unknown): string[] {
  const here = unwrap(schema);
  const def = (here as { def?: AnyDef } | undefined)?.def;
  if (def === undefined) return [];
  if (def.options !== undefined) {
    const forms = path.length === 0 ? formsFor(def, input) : def.options;
    return forms.flatMap((form) => keysAt(form, path, input));
  }
  const [part, ...rest] = path;
  if (part === undefined) return def.type === "object" ? Object.keys(def.shape ?? {}) : [];
  return keysAt(def.element ?? def.valueType ?? def.shape?.[String(part)], rest, input);
}

/** The one form that the value's discriminator names; else all of them. */
function formsFor({ options, discriminator }: AnyDef, input: unknown): readonly unknown[] {
  if (discriminator === undefined) return options!;
  const word = (input as Readonly<Record<string, unknown>> | undefined)?.[discriminator];
  const form = options!.find((it) => valuesOf(it, discriminator)?.has(word));
  return form === undefined ? options! : [form];
}

const valuesOf = (form: unknown, key: string): ReadonlySet<unknown> | undefined =>
  (form as { _zod?: { propValues?: Record<string, Set<unknown>> } })._zod?.propValues?.[key];

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

const received = (input: unknown, expected: string): string => {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  // "must be a whole number, not a number" would help nobody. Elsewhere no value is repeated: it may be a secret.
  if (typeof input === "number" && ["int", "number"].includes(expected)) return String(input);
  return kind(typeof input);
};

function plural(count: number | bigint, origin: string): string {
  if (origin === "string") return `${count} character${count === 1 ? "" : "s"}`;
  if (isList(origin)) return `${count} item${count === 1 ? "" : "s"}`;
  return String(count);
}

/** The fault of a key that does not belong there. */
export function unknownKey(path: string, key: string, allowed: readonly string[], fix?: string): Issue {
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

/** A fault with its path in parts, for who must find the place. */
export interface LocatedIssue {
  path: readonly PropertyKey[];
  issue: Issue;
}

/** All issues as faults, in the order in which they were found. */
export function issuesOf(error: z.ZodError, schema: z.ZodType): Issue[] {
  return locatedIssues(error, schema).map(({ issue }) => issue);
}

export function locatedIssues(error: z.ZodError, schema: z.ZodType): LocatedIssue[] {
  return error.issues.flatMap(meant).flatMap((issue): LocatedIssue[] => {
    if (issue.code !== "unrecognized_keys") {
      return [{ path: issue.path, issue: { path: formatPath(issue.path), ...describe(issue) } }];
    }
    const allowed = allowedKeys(schema, issue.path, issue.input);
    return issue.keys.slice(0, MAX_UNKNOWN_KEYS).map((key) => {
      const path = [...issue.path, key];
      return { path, issue: unknownKey(formatPath(path), key, allowed) };
    });
  });
}

/** The code with which a form says that it is only an alternative: an expression in place of the value. */
export const ALTERNATIVE = "alternative";

/**
 * The issues that help: where a value may be an expression too, that it is none says nothing. If one of the other
 * forms is of the value's kind, its issues are told, each in its own place.
 */
function meant(issue: ZodIssue): ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const forms = issue.errors.filter((form) => !form.every(isAlternative));
  if (forms.length === 0 || forms.length === issue.errors.length) return [issue];
  const near = forms.filter((form) => !form.some(isOtherKind));
  const only = near.length === 1 ? near[0] : forms.length === 1 ? forms[0] : undefined;
  if (only === undefined) return [{ ...issue, errors: forms } as ZodIssue];
  return only.flatMap((inner) => meant({ ...inner, path: [...issue.path, ...inner.path] }));
}

const isAlternative = (issue: ZodIssue): boolean =>
  issue.code === "custom" && issue.params?.["code"] === ALTERNATIVE;

const isOtherKind = (issue: ZodIssue): boolean => issue.code === "invalid_type" && issue.path.length === 0;

/** What is wrong, apart from where. (Unknown keys come here only inside a union's form.) */
function describe(issue: ZodIssue): Omit<Issue, "path"> {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? { code: "missing", message: "is missing", fix: `Give it: ${kind(issue.expected)}.` }
        : {
            code: "wrong_type",
            message: `must be ${kind(issue.expected)}, not ${received(issue.input, issue.expected)}`,
          };
    case "invalid_value":
      return notAllowed(issue.input, issue.values.map(String));
    case "too_big":
      return {
        code: isLength(issue.origin) ? "too_long" : "too_large",
        message: `must be ${bound(issue, "at most", "less than")} ${plural(issue.maximum, issue.origin)}`,
      };
    case "too_small":
      return {
        code: isLength(issue.origin) ? "too_short" : "too_small",
        message:
          issue.origin === "string" && issue.minimum === 1
            ? "must not be empty"
            : `must be ${bound(issue, "at least", "more than")} ${plural(issue.minimum, issue.origin)}`,
      };
    case "invalid_format": {
      // A message of the schema's own goes before what can be said of any pattern.
      const own = issue.message.startsWith("Invalid ") ? undefined : issue.message;
      const general = issue.pattern ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
      return { code: "wrong_format", message: own ?? general };
    }
    case "not_multiple_of":
      return { code: "not_allowed", message: `must be a multiple of ${issue.divisor}` };
    case "invalid_key":
      return { code: "not_allowed", message: `is not a name that may stand here: ${spoken(issue.issues)}` };
    case "invalid_element":
      return { code: "invalid", message: `holds an item that may not: ${spoken(issue.issues)}` };
    case "unrecognized_keys":
      return { code: "unknown_key", message: `must not hold ${listed(issue.keys)}` };
    case "invalid_union":
      return describeUnion(issue);
    default: {
      // A check of our own says its code itself.
      const code: unknown = issue.params?.["code"];
      return { code: typeof code === "string" ? code : "invalid", message: issue.message };
    }
  }
}

/** Some keys that were sent, in few words. */
function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, SHOWN).map((key) => cut(key, LONGEST_KEY));
  return keys.length > SHOWN ? `${shown.join(", ")} and ${keys.length - SHOWN} more` : shown.join(", ");
}

const spoken = (issues: readonly ZodIssue[]): string =>
  issues
    .slice(0, SHOWN)
    .map((issue) => `${formatPath(issue.path)} ${describe(issue).message}`.trimStart())
    .join(", ");

/** What each form would have needed; or, where a key tells the forms apart, what that key may be. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion): Omit<Issue, "path"> {
  if (issue.discriminator === undefined || issue.inclusive === false || issue.options === undefined) {
    return {
      code: "no_match",
      message: issue.errors.map(spoken).join(", or ") || "matches more than one form",
    };
  }
  const input = (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator];
  return notAllowed(input, issue.options.map(String));
}

function notAllowed(input: unknown, allowed: string[]): Omit<Issue, "path"> {
  if (input === undefined) return { code: "missing", message: "is missing", allowed };
  const near = typeof input === "string" ? nearMatch(input, allowed) : undefined;
  const message = `must be one of ${allowed.join(", ")}`;
  return { code: "not_allowed", message, allowed, ...(near !== undefined && { did_you_mean: near }) };
}

const isLength = (origin: string): boolean => origin === "string" || isList(origin);
const isList = (origin: string): boolean => ["array", "set", "map"].includes(origin);

const bound = (it: { exact?: boolean; inclusive?: boolean }, within: string, beyond: string): string =>
  it.exact ? "exactly" : it.inclusive === false ? beyond : within;

/** Faults as the error that tells them. The message repeats the first ones, for clients that show nothing else. */
export function invalidInput(errors: Issue[]): AppError {
  const shown = errors.slice(0, 3).map((issue) => `${issue.path || "The input"} ${issue.message}.`);
  if (errors.length > 3) {
    const some = errors.length > MAX_ISSUES ? ` (the first ${MAX_ISSUES})` : "";
    shown.push(`And ${errors.length - 3} more, see errors${some}.`);
  }
  return new AppError("invalid_input", shown.join(" "), { errors: errors.slice(0, MAX_ISSUES) });
}

const isUnknown = (issue: Issue): number => Number(issue.code === "unknown_key");

/**
 * Parses with a schema, or throws `invalid_input` with every fault.
 * @param found faults that were found before, told together with those of the schema
 * @throws AppError invalid_input
 */
export function parseInput<T extends z.ZodType>(
  schema: T,
  raw: unknown,
  found: readonly Issue[] = [],
): z.output<T> {
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success && found.length === 0) return parsed.data;
  const issues = [...found, ...(parsed.success ? [] : issuesOf(parsed.error, schema))];
  // Unknown keys first, whoever found them: every surface tells the same in the same order.
  throw invalidInput(issues.toSorted((a, b) => isUnknown(b) - isUnknown(a)));
}
