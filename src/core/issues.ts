/** Converts the issues of zod to `Issue`: all of them, each with its path, the allowed values, a near match and a fix. */
import type { z } from "zod";
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "./errors.ts";
import { withoutFields } from "./hidden-fields.ts";
import { isLongNumber } from "../../schemas/long-numbers.ts";
import { meantField } from "./input-aliases.ts";
import { nearMatch } from "./near-match.ts";
import { truncate } from "./truncate.ts";

type ZodIssue = z.core.$ZodIssue;

/** Maximum number of unknown keys reported for one object: each costs a search for a near match. */
export const MAX_UNKNOWN_KEYS = 100;
/** Maximum number of issues reported for one input. */
const MAX_ISSUES = 200;
/** Maximum length of a key, and of a path, repeated from the input, in characters: the response must stay small. */
const MAX_KEY_LENGTH = 100;
const MAX_PATH_LENGTH = 500;
/** Maximum number of keys or issues listed in one message. */
const MAX_LISTED = 10;

/** Writes a path as people do: `steps[2].id`. Long keys and paths are truncated. */
export function formatPath(path: readonly PropertyKey[]): string {
  let out = "";
  for (const part of path) {
    if (typeof part === "number") out += `[${part}]`;
    else out += `${out === "" ? "" : "."}${truncate(String(part), MAX_KEY_LENGTH)}`;
    if (out.length > MAX_PATH_LENGTH) break;
  }
  return truncate(out, MAX_PATH_LENGTH);
}

/**
 * Lists the keys that an object schema allows at `path`; none if it allows any key or is no object. In a discriminated
 * union `input`, the value at that path, selects the option; of any other union the keys of all options are listed.
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
  const { def } = (unwrap(schema) ?? {}) as { def?: AnyDef };
  if (def === undefined) return [];
  if (def.options !== undefined) {
    const options = path.length === 0 ? optionsFor(def, input) : def.options;
    return options.flatMap((option) => keysAt(option, path, input));
  }
  const [part, ...rest] = path;
  if (part === undefined) return def.type === "object" ? Object.keys(def.shape ?? {}) : [];
  return keysAt(def.element ?? def.valueType ?? def.shape?.[String(part)], rest, input);
}

/** Returns the option that the value's discriminator selects, else all of them. */
function optionsFor({ options, discriminator }: AnyDef, input: unknown): readonly unknown[] {
  if (discriminator === undefined) return options!;
  const value = (input as Readonly<Record<string, unknown>> | undefined)?.[discriminator];
  const option = options!.find((candidate) => valuesOf(candidate, discriminator)?.has(value));
  return option === undefined ? options! : [option];
}

const valuesOf = (option: unknown, key: string): ReadonlySet<unknown> | undefined =>
  (option as { _zod?: { propValues?: Record<string, Set<unknown>> } })._zod?.propValues?.[key];

function unwrap(schema: unknown): unknown {
  let current = schema;
  for (;;) {
    const inner = (current as { def?: { innerType?: unknown } })?.def?.innerType;
    if (inner === undefined) return current;
    current = inner;
  }
}

const kinds: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
  record: "an object",
};
const kind = (type: string): string => kinds[type] ?? type;

/** The end of what a message expects where a field takes a number, but no long number. */
export const HELD_EXACTLY = ` that a JSON number holds exactly (up to ${Number.MAX_SAFE_INTEGER})`;

const held = ({ input, expected }: z.core.$ZodIssueInvalidType): string =>
  isLongNumber(input) && NUMERIC.has(expected) ? HELD_EXACTLY : "";
const NUMERIC = new Set(["int", "number"]);

const received = (input: unknown, expected: string): string => {
  if (input === null) return "null";
  if (isLongNumber(input) && NUMERIC.has(expected)) return truncate(input, MAX_KEY_LENGTH);
  if (Array.isArray(input)) return "a list";
  // "must be an integer, got a number" would not help. No other value is repeated: it may be a secret.
  if (typeof input === "number" && NUMERIC.has(expected)) return String(input);
  return kind(typeof input);
};

/** Writes a limit with its unit: `at most 3 characters`. */
function limit(comparison: string, count: number | bigint, origin: string): string {
  const plural = count === 1 ? "" : "s";
  if (origin === "string") return `must be ${comparison} ${count} character${plural}`;
  return isList(origin) ? `must have ${comparison} ${count} item${plural}` : `must be ${comparison} ${count}`;
}

/** Writes the number or the size of the value that exceeds a limit; nothing if zod did not report the value. */
function receivedSize(input: unknown, maximum?: number | bigint): string {
  if (typeof input === "number" || typeof input === "bigint") return `, got ${input}`;
  if (typeof input === "string") return `, got ${stringLength(input, maximum)}`;
  const { length, size } = (input ?? {}) as { length?: unknown; size?: unknown };
  const count = length ?? size;
  return typeof count === "number" ? `, got ${count}` : "";
}

/** Counts code points, as `text()` of the schemas does, or UTF-16 units where only those exceed the limit, as in zod. */
function stringLength(value: string, maximum: number | bigint = 0): number {
  // A megabyte is rejected without being counted.
  if (value.length > Number(maximum) * 4) return value.length;
  let codePoints = 0;
  for (let at = 0; at < value.length; at += value.codePointAt(at)! > 0xffff ? 2 : 1) codePoints += 1;
  return codePoints > maximum ? codePoints : value.length;
}

/** Makes the issue of an unknown key. @param fix left out, the fix is to write the near match or to remove the key */
export function unknownKey(path: string, key: string, allowed: readonly string[], fix?: string): Issue {
  const near = nearMatch(key, allowed);
  return {
    path,
    code: "unknown_key",
    message: "is not a known field",
    ...(allowed.length > 0 && { allowed: [...allowed] }),
    ...(near !== undefined && { did_you_mean: near }),
    fix: fix ?? (near === undefined ? "Remove it." : `Write ${near}, or remove it.`),
  };
}

/** An issue with its path in parts, to locate it in a document. */
export interface LocatedIssue {
  path: readonly PropertyKey[];
  issue: Issue;
}

/** What an unknown key stands for, beyond misspelt ones. @param sent the object that has it */
type Meant = (key: string, allowed: readonly string[], sent: unknown) => Partial<Issue> | undefined;

/** Describes all issues of a zod error, in its order. */
export function issuesOf(error: z.ZodError, schema: z.ZodType, meant?: Meant): Issue[] {
  return locatedIssues(error, schema, meant).map(({ issue }) => issue);
}

export function locatedIssues(error: z.ZodError, schema: z.ZodType, meant?: Meant): LocatedIssue[] {
  return error.issues.flatMap(relevantIssues).flatMap((issue): LocatedIssue[] => {
    if (issue.code !== "unrecognized_keys") {
      const described = { ...describe(issue), ...fieldOfValue(issue, schema) };
      return [{ path: issue.path, issue: { path: formatPath(issue.path), ...described } }];
    }
    const allowed = allowedKeys(schema, issue.path, issue.input);
    return issue.keys.slice(0, MAX_UNKNOWN_KEYS).map((key) => {
      const path = [...issue.path, key];
      return {
        path,
        issue: { ...unknownKey(formatPath(path), key, allowed), ...meant?.(key, allowed, issue.input) },
      };
    });
  });
}

/** What to write for a value that one of the other fields takes. */
function fieldOfValue(issue: ZodIssue, schema: z.ZodType): Pick<Issue, "fix"> | undefined {
  const { code, path, input } = issue;
  if (code !== "invalid_value" || typeof input !== "string" || path.length > 2) return undefined;
  const { shape = {} } = ((unwrap(schema) ?? {}) as { def?: AnyDef }).def ?? {};
  const field = Object.keys(shape).find(
    (name) => name !== path[0] && Object.values(entriesOf(shape[name])).includes(input),
  );
  return field === undefined
    ? undefined
    : { fix: `Write {"${field}": "${input}"} instead: it is a value of ${field}.` };
}

/** The values of an enum. */
const entriesOf = (schema: unknown): object =>
  (unwrap(schema) as { def?: { entries?: object } } | undefined)?.def?.entries ?? {};

/** The code of a union option that is only an alternative to the value: an expression in its place. */
export const ALTERNATIVE = "alternative";

/**
 * Selects the helpful issues of a union. It leaves out that the value is not an expression. If one option has the type
 * of the value, the issues are those of that option, each with its own path.
 */
function relevantIssues(issue: ZodIssue): ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const options = issue.errors.filter((option) => !option.every(isAlternative));
  if (options.length === 0 || options.length === issue.errors.length) return [issue];
  const sameTypeOptions = options.filter((option) => !option.some(isOtherType));
  const intended =
    sameTypeOptions.length === 1 ? sameTypeOptions[0] : options.length === 1 ? options[0] : undefined;
  if (intended === undefined) return [{ ...issue, errors: options } as ZodIssue];
  return intended.flatMap((inner) => relevantIssues({ ...inner, path: [...issue.path, ...inner.path] }));
}

const isAlternative = (issue: ZodIssue): boolean =>
  issue.code === "custom" && issue.params?.["code"] === ALTERNATIVE;

const isOtherType = (issue: ZodIssue): boolean => issue.code === "invalid_type" && issue.path.length === 0;

/** Describes an issue without its path. Unknown keys are described here only inside the option of a union. */
function describe(issue: ZodIssue): Omit<Issue, "path"> {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? { code: "missing", message: "is required", fix: `Set it to ${kind(issue.expected)}.` }
        : {
            code: "wrong_type",
            message: `must be ${kind(issue.expected)}${held(issue)}, got ${received(issue.input, issue.expected)}`,
          };
    case "invalid_value":
      return notAllowed(issue.input, issue.values.map(String));
    case "too_big":
      return {
        code: isLength(issue.origin) ? "too_long" : "too_large",
        message:
          limit(compared(issue, "at most", "less than"), issue.maximum, issue.origin) +
          receivedSize(issue.input, issue.maximum),
      };
    case "too_small":
      return {
        code: isLength(issue.origin) ? "too_short" : "too_small",
        message:
          issue.origin === "string" && issue.minimum === 1
            ? "must not be empty"
            : limit(compared(issue, "at least", "more than"), issue.minimum, issue.origin) +
              receivedSize(issue.input),
      };
    case "invalid_format": {
      // The schema's own message says it in words; nobody reads a regular expression.
      const custom = issue.message.startsWith("Invalid ") ? undefined : issue.message;
      const generic =
        issue.format === "regex"
          ? "does not have the right form"
          : `must be a valid ${formatName(issue.format)}`;
      return { code: "wrong_format", message: custom ?? generic };
    }
    case "not_multiple_of":
      return {
        code: "not_allowed",
        message: `must be a multiple of ${issue.divisor}${receivedSize(issue.input)}`,
      };
    case "invalid_key":
      return { code: "not_allowed", message: `is not a valid name: ${joinMessages(issue.issues)}` };
    case "invalid_element":
      return { code: "invalid", message: `contains an invalid item: ${joinMessages(issue.issues)}` };
    case "unrecognized_keys":
      return { code: "unknown_key", message: `must not have the field ${listKeys(issue.keys)}` };
    case "invalid_union":
      return issue.input === undefined
        ? { code: "missing", message: "is required", fix: "Add it." }
        : describeUnion(issue);
    default: {
      // Our own checks state their code.
      const { code, fix, did_you_mean, allowed } = (issue.params ?? {}) as Record<string, unknown>;
      return {
        code: typeof code === "string" ? code : "invalid",
        message: issue.message,
        ...(Array.isArray(allowed) && { allowed: allowed as string[] }),
        ...(typeof did_you_mean === "string" && did_you_mean !== "" && { did_you_mean }),
        ...(typeof fix === "string" && { fix }),
      };
    }
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  url: "URL",
  datetime: "date and time (ISO 8601)",
  date: "date (ISO 8601)",
  time: "time (ISO 8601)",
};
const formatName = (format: string): string => FORMATS[format] ?? format;

function listKeys(keys: readonly string[]): string {
  const listed = keys.slice(0, MAX_LISTED).map((key) => truncate(key, MAX_KEY_LENGTH));
  return keys.length > MAX_LISTED
    ? `${listed.join(", ")} and ${keys.length - MAX_LISTED} more`
    : listed.join(", ");
}

const joinMessages = (issues: readonly ZodIssue[]): string =>
  issues
    .slice(0, MAX_LISTED)
    .map((issue) => `${formatPath(issue.path)} ${describe(issue).message}`.trimStart())
    .join(", ");

/** The kinds that a value may have, if all that the options of a union find is that it has another one. */
function otherKinds({ errors }: z.core.$ZodIssueInvalidUnion): string[] | undefined {
  const found: string[] = [];
  for (const [only, ...more] of errors) {
    if (only === undefined || more.length > 0 || only.path.length > 0) return undefined;
    if (only.code === "invalid_type" && held(only) === "") found.push(kind(only.expected));
    else if (only.code === "invalid_union") {
      const inner = otherKinds(only);
      if (inner === undefined) return undefined;
      found.push(...inner);
    } else return undefined;
  }
  return found.length === 0 ? undefined : found;
}

/** Describes what each option requires; in a discriminated union, the values of the discriminator. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion): Omit<Issue, "path"> {
  if (issue.discriminator === undefined || issue.inclusive === false || issue.options === undefined) {
    const others = otherKinds(issue);
    if (others !== undefined) {
      const [last, ...first] = [...new Set(others)].toReversed();
      const listed = first.length === 0 ? last : `${first.toReversed().join(", ")} or ${last}`;
      return { code: "wrong_type", message: `must be ${listed}, got ${received(issue.input, "")}` };
    }
    return {
      code: "no_match",
      message:
        [...new Set(issue.errors.map(joinMessages))].join(", or ") ||
        "must match only one of the allowed forms",
    };
  }
  const input = (issue.input as Readonly<Record<string, unknown>>)[issue.discriminator];
  return notAllowed(input, issue.options.map(String));
}

function notAllowed(input: unknown, allowed: string[]): Omit<Issue, "path"> {
  if (input === undefined) return { code: "missing", message: "is required", allowed };
  const near = typeof input === "string" ? nearMatch(input, allowed) : undefined;
  const message = `must be one of ${allowed.join(", ")}`;
  return { code: "not_allowed", message, allowed, ...(near !== undefined && { did_you_mean: near }) };
}

const isLength = (origin: string): boolean => origin === "string" || isList(origin);
const isList = (origin: string): boolean => ["array", "set", "map"].includes(origin);

const compared = (
  issue: { exact?: boolean; inclusive?: boolean },
  inclusive: string,
  exclusive: string,
): string => (issue.exact ? "exactly" : issue.inclusive === false ? exclusive : inclusive);

/** Makes the error that reports issues. Its message repeats the first three, for clients that show nothing else. */
export function invalidInput(errors: Issue[]): AppError {
  const sentences = errors.slice(0, 3).map((issue) => `${issue.path || "The input"} ${issue.message}.`);
  if (errors.length > 3) {
    const cut = errors.length > MAX_ISSUES ? ` (the first ${MAX_ISSUES})` : "";
    sentences.push(`And ${errors.length - 3} more, see errors${cut}.`);
  }
  return new AppError("invalid_input", sentences.join(" "), { errors: errors.slice(0, MAX_ISSUES) });
}

const isAtOrBelow = (path: string, ancestor: string): boolean =>
  path === ancestor ||
  (path.startsWith(ancestor) && (ancestor === "" || [".", "["].includes(path[ancestor.length]!)));

const isUnknownKey = (issue: Issue): number => Number(issue.code === "unknown_key");

/**
 * Parses a value with a schema, or throws `invalid_input` with every issue.
 * @param found issues that were found before, to be reported together with those of the schema; where the schema finds
 *   the same at that path or above it, the earlier issue stays
 * @param hidden fields that no issue offers
 * @throws AppError invalid_input
 */
export function parseInput<T extends z.ZodType>(
  schema: T,
  raw: unknown,
  found: readonly Issue[] = [],
  hidden: readonly string[] = [],
): z.output<T> {
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (parsed.success && found.length === 0) return parsed.data;
  const isKnown = ({ code, path }: Issue): boolean =>
    found.some((issue) => issue.code === code && isAtOrBelow(issue.path, path));
  const added = parsed.success
    ? []
    : issuesOf(parsed.error, schema, meantField).filter((issue) => !isKnown(issue));
  const issues = [...found, ...added].map((issue) => withoutFields(issue, hidden));
  // Unknown keys come first, so that every surface reports the same issues in the same order.
  throw invalidInput(issues.toSorted((a, b) => isUnknownKey(b) - isUnknownKey(a)));
}
