/** The issues of fields with wrong names, types or values, each with the patch that corrects it. */
import type { z } from "zod";
import { allowedKeys, formatPath, locatedIssues } from "../../../core/issues.ts";
import type { LocatedIssue } from "../check/check-report.ts";
import { conversionsOf, idOf, nearValue } from "./conversions.ts";
import { type Fields, isWithin, type MisplacedField, type Path, writtenPath } from "./intended-fields.ts";
import { stepListOf } from "./intended-definition.ts";
import { intendSchema } from "./intended-schema.ts";
import type { IntendedStep } from "./intended-step.ts";

/** Maximum number of values that are tried for one object: each is parsed. */
const MAX_TRIALS = 200;

/** The issue of a field that is written under another name or in another place. */
export function misplacedIssue({ from, to, patch, fix }: MisplacedField, schema: z.ZodType): LocatedIssue {
  const allowed = allowedKeys(schema, to.slice(0, -1));
  return {
    path: from,
    code: "unknown_key",
    message: "is not a known field",
    ...(allowed.length > 0 && { allowed }),
    did_you_mean: String(to.length > 1 && from.length === 1 ? formatPath(to) : to.at(-1)),
    fix,
    patch,
  };
}

/** The issue of a type that is missing or not known. */
export function typeIssue({ fields, type }: IntendedStep, known: Iterable<string>): LocatedIssue[] {
  const { type: written } = fields;
  if (type !== undefined && written === type.type) return [];
  const allowed = [...known];
  const meant = type === undefined ? {} : { did_you_mean: type.type };
  if (written === undefined)
    return [
      {
        path: ["type"],
        code: "missing",
        message: "is required",
        allowed,
        ...meant,
        fix: type === undefined ? `Set it to one of ${allowed.join(", ")}.` : `Write type: ${type.type}.`,
        ...(type !== undefined && { patch: [{ op: "add", path: ["type"], value: type.type }] }),
      },
    ];
  return [
    {
      path: ["type"],
      code: "not_allowed",
      message: `must be one of ${allowed.join(", ")}`,
      allowed,
      ...meant,
      fix: type === undefined ? `Write one of ${allowed.join(", ")}.` : `Write ${type.type}.`,
      ...(type !== undefined && { patch: [{ op: "replace", path: ["type"], value: type.type }] }),
    },
  ];
}

interface ConvertedValues {
  issues: LocatedIssue[];
  /** The fields with the converted values. */
  fields: Record<string, unknown>;
  /** The fields that still have an issue. */
  invalidFields: ReadonlySet<string>;
  /** The paths of the converted values in the intended fields. */
  paths: readonly Path[];
}

/**
 * Converts the values that have an issue where the schema accepts the converted one.
 * @param found issues with paths in the intended fields
 * @returns the issues with their paths as written
 */
export function convertValues(
  found: readonly LocatedIssue[],
  fields: Fields,
  schema: z.ZodType,
  misplaced: readonly MisplacedField[],
): ConvertedValues {
  let remaining = MAX_TRIALS;
  let converted: Record<string, unknown> = { ...fields };
  const invalidFields = new Set<string>();
  const paths: Path[] = [];
  const issues = found.map((issue): LocatedIssue => {
    const path = writtenPath(issue.path, misplaced);
    const value = valueAt(fields, issue.path);
    for (const candidate of candidatesOf(issue, value, fields)) {
      remaining -= 1;
      if (remaining < 0) break;
      const changed = withValue(converted, issue.path, candidate);
      if (!accepts(schema, changed, issue.path)) continue;
      converted = changed;
      paths.push(issue.path);
      // The value of a field under another name is converted with its name, or in a later round.
      return { ...issue, path, ...fixOf(issue, candidate, value, path) };
    }
    invalidFields.add(String(issue.path[0] ?? ""));
    return { ...issue, path, ...unclearUnit(issue, value) };
  });
  return { issues, fields: converted, invalidFields, paths };
}

/** The fields that are JSON Schemas; all but `output_schema` of objects. */
export const SCHEMA_FIELDS: ReadonlySet<string> = new Set(["inputs", "output_schema", "form"]);

/** The sentence for a duration without a unit, which may be seconds or milliseconds. */
function unclearUnit({ path }: LocatedIssue, value: unknown): Pick<LocatedIssue, "fix"> {
  const isDuration = ["timeout", "cache", "for", "initial", "max", "every"].includes(String(path.at(-1)));
  if (!isDuration || typeof value !== "number" || !Number.isInteger(value)) return {};
  return { fix: `Write ${value}ms if it is in milliseconds, or ${value}s if it is in seconds.` };
}

/** Stands for the absence of a value. */
const ABSENT = Symbol("absent");

function candidatesOf(issue: LocatedIssue, value: unknown, fields: Fields): unknown[] {
  const key = issue.path.at(-1);
  if (issue.code === "unknown_key" || issue.code === "no_expression_here" || issue.path.length === 0)
    return [];
  if (issue.path.length === 1 && key === "id") {
    const id = idOf(value) ?? (value === undefined ? idOf(fields["type"] ?? "step") : undefined);
    return id === undefined ? [] : [id];
  }
  if (value === undefined) return [];
  if (key === "steps") return [stepListOf(value)].filter((list) => list !== undefined);
  if (SCHEMA_FIELDS.has(String(key))) {
    const schema = intendSchema(value, key !== "output_schema");
    if (schema !== undefined) return [schema];
  }
  if (value === null) return [ABSENT];
  // One attempt in all means that there is no retry.
  if (key === "attempts" && (value === 1 || value === 0)) return [ABSENT];
  const near = nearValue(value, issue.allowed ?? []);
  return [...(near === undefined ? [] : [near]), ...conversionsOf(key, value)];
}

function fixOf(
  issue: LocatedIssue,
  candidate: unknown,
  value: unknown,
  path: Path,
): Pick<LocatedIssue, "fix" | "patch"> {
  if (candidate === ABSENT) return { fix: "Remove it: it is not set.", patch: [{ op: "remove", path }] };
  const fix = issue.fix?.startsWith("Write ") ? issue.fix : `Write ${JSON.stringify(candidate)}.`;
  return { fix, patch: [{ op: value === undefined ? "add" : "replace", path, value: candidate }] };
}

function accepts(schema: z.ZodType, fields: Fields, path: Path): boolean {
  const parsed = schema.safeParse(fields, { reportInput: true });
  return parsed.success || !locatedIssues(parsed.error, schema).some((issue) => isWithin(path, issue.path));
}

/** Returns the value at a path; undefined if there is none. */
export const valueAt = (fields: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Record<PropertyKey, unknown>)[part]
        : undefined,
    fields,
  );

/** Returns a copy with another value at a path, of which only the last part may be missing. */
function withValue(fields: Fields, path: Path, value: unknown): Record<string, unknown> {
  const [key, ...rest] = path;
  const copy = (Array.isArray(fields) ? [...(fields as unknown[])] : { ...fields }) as Record<
    PropertyKey,
    unknown
  >;
  if (rest.length > 0) copy[key!] = withValue(copy[key!] as Fields, rest, value);
  else if (value === ABSENT) delete copy[key!];
  else copy[key!] = value;
  return copy;
}
