/** Finds the issues of a JSON Schema, each with its path in the schema. */
import type { ErrorObject } from "ajv";
import { RE2JS } from "re2js";
import type { PartialIssue } from "../connections.ts";
import { unknownKey } from "../issues.ts";
import { lazy } from "../lazy.ts";
import { nearMatch } from "../near-match.ts";
import { estimatePatternSize } from "../pattern-size.ts";
import { FORMATS, type JsonSchema, KEYWORDS, newAjv } from "./dialect.ts";
import { endlessReferences } from "./endless-references.ts";
import { describeErrors } from "./errors.ts";
import { withoutLongLimits } from "./long-limits.ts";
import { acceptLongNumbers, containsLongNumber } from "./long-numbers.ts";
import { memoize } from "./memoize.ts";
import { pointerPart, pointerParts, resolveRef } from "./references.ts";

/** Maximum size of a schema, in characters of JSON. */
const MAX_SIZE = 64 * 1024;
/** Maximum number of schemas inside a schema. */
const MAX_SCHEMAS = 500;
/** Maximum nesting of schemas, in levels. */
const MAX_DEPTH = 32;
/** Maximum size of all patterns of a schema together, in instructions: these compile in well under 0.2 s. */
const MAX_INSTRUCTIONS = 50_000;
/** Instructions charged for a class of Unicode characters (`\pL`): it is a table of hundreds of ranges. */
const UNICODE_CLASS_COST = 100;

type Path = PropertyKey[];

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns all issues of a schema. Without any, a validator can be compiled from it. */
export function schemaIssues(schema: unknown): PartialIssue[] {
  if (!isObject(schema))
    return [{ path: [], code: "wrong_type", message: "must be a JSON Schema, which is an object" }];
  const size = JSON.stringify(schema).length;
  if (size > MAX_SIZE)
    return [
      {
        path: [],
        code: "too_large",
        message: `must be at most ${MAX_SIZE} characters of JSON, got ${size}`,
      },
    ];
  return [...issuesWithin(schema)];
}

const issuesWithin = memoize((schema): readonly PartialIssue[] => {
  const { issues, defaults, schemas } = walk(schema);
  if (issues.length > 0) return issues;
  const endless = endlessReferences(schema, schemas);
  if (endless.length > 0) return endless;
  try {
    return compileIssues(schema, defaults);
  } catch (error) {
    const message = `is not a valid JSON Schema: ${(error as Error).message}`;
    return [{ path: [], code: "invalid_schema", message }];
  }
});

/** Finds the issues that need a validator: violations of the meta-schema, and defaults that don't match. */
function compileIssues(schema: JsonSchema, defaults: readonly Path[]): PartialIssue[] {
  const dialect = metaValidator();
  const plain = withoutLongLimits(schema) as JsonSchema;
  if (dialect.validateSchema(plain) !== true)
    return firstOfEach(describeErrors(dialect.errors ?? [], schema));
  const ajv = newAjv({ useDefaults: false, allErrors: true });
  ajv.addSchema(plain, ROOT, undefined, false);
  ajv.getSchema(ROOT);
  if (defaults.length === 0) return [];
  // A single validator checks all defaults, because compiling one for each would take long.
  const validate = ajv.compile(defaultsSchema(defaults));
  const values = defaults.map((path) => valueAt(schema, [...path, "default"]));
  validate(values);
  const errors = withLongNumbers(validate.errors ?? [], values, schema, defaultsSchema(defaults));
  const found = describeErrors(errors, values).map(({ path, message, ...issue }): PartialIssue => {
    const [index, ...below] = path ?? [];
    const defaultPath = [...defaults[index as number]!, "default", ...below];
    const text = `does not match the schema that it is the default of: it ${message}`;
    return Object.assign(issue, { path: defaultPath, message: text });
  });
  return firstOfEach(found);
}

/** The schema of the list of all defaults. */
const defaultsSchema = (defaults: readonly Path[]): JsonSchema => ({
  prefixItems: defaults.map((path) => ({ $ref: `${ROOT}#/${path.map(pointerPart).join("/")}` })),
});

/**
 * Validates values with long numbers again, as the numbers that they are.
 * @param errors those of all values, as text
 * @param values what was validated with `schema`
 */
function withLongNumbers(
  errors: readonly ErrorObject[],
  values: readonly unknown[],
  root: JsonSchema,
  schema: JsonSchema,
): ErrorObject[] {
  const refused = new Set(errors.map(indexOf));
  const again = new Set([...refused].filter((index) => containsLongNumber(values[index])));
  // A schema with long numbers may have limits that were left out.
  const isIncomplete = containsLongNumber(root);
  if (again.size === 0 && !isIncomplete) return [...errors];
  const ajv = newAjv({ useDefaults: false, allErrors: true });
  ajv.addSchema(acceptLongNumbers(ajv, root, { keepsPaths: true }), ROOT, undefined, false);
  const validate = ajv.compile(schema);
  validate(values);
  const exact = validate.errors ?? [];
  // A long number may match two forms here, and as text only one of them.
  const twice = new Set(exact.filter(({ keyword }) => keyword === "oneOf").map(indexOf));
  const counts = (index: number): boolean =>
    again.has(index) || (isIncomplete && !refused.has(index) && !twice.has(index));
  return [
    ...errors.filter((error) => !again.has(indexOf(error))),
    ...exact.filter((error) => counts(indexOf(error))),
  ];
}

/** The index of the validated value that an error is about. */
const indexOf = ({ instancePath }: ErrorObject): number => Number(instancePath.split("/")[1]);

const ROOT = "millrace:schema";

/** A validator of the meta-schema alone, which takes longer to compile than most schemas. */
const metaValidator = lazy(() => newAjv({ useDefaults: false, allErrors: true }));

/** Keeps the first of several issues at one path, because the others are about alternatives that the author did not mean. */
const firstOfEach = (issues: PartialIssue[]): PartialIssue[] => {
  const first = new Map(issues.toReversed().map((issue) => [JSON.stringify(issue.path), issue]));
  return issues.filter((issue) => first.get(JSON.stringify(issue.path)) === issue);
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown>)[part], value);

/** Checks every schema inside a schema. */
function walk(root: JsonSchema) {
  const issues: PartialIssue[] = [];
  const schemas: { schema: JsonSchema; path: Path }[] = [];
  const defaults: Path[] = [];
  const queue: { schema: unknown; path: Path; depth: number }[] = [{ schema: root, path: [], depth: 0 }];
  const patterns: PatternBudget = { remaining: MAX_INSTRUCTIONS };
  let count = 0;
  for (let next = queue.pop(); next !== undefined && issues.length < 100; next = queue.pop()) {
    const { schema, path, depth } = next;
    count += 1;
    if (count > MAX_SCHEMAS || depth > MAX_DEPTH) {
      const bound = count > MAX_SCHEMAS ? `${MAX_SCHEMAS} schemas` : `${MAX_DEPTH} levels`;
      issues.push({ path, code: "too_large", message: `must contain at most ${bound}` });
      break;
    }
    if (typeof schema === "boolean") continue;
    if (!isObject(schema)) {
      issues.push({ path, code: "wrong_type", message: "must be a JSON Schema: an object, true or false" });
      continue;
    }
    schemas.push({ schema, path });
    if (Object.hasOwn(schema, "default")) defaults.push(path);
    issues.push(...ownIssues(schema, root, path, patterns));
    queue.push(...innerSchemas(schema, path, depth + 1).toReversed());
  }
  return { issues, defaults, schemas };
}

function innerSchemas(schema: JsonSchema, path: Path, depth: number) {
  return Object.entries(schema).flatMap(([key, value]) => {
    const contains = KEYWORDS.get(key);
    if (contains === "schema") return [{ schema: value, path: [...path, key], depth }];
    if (contains === "schemas" && Array.isArray(value))
      return value.map((inner: unknown, index) => ({ schema: inner, path: [...path, key, index], depth }));
    if (contains === "named" && isObject(value))
      return Object.entries(value).map(([name, inner]) => ({
        schema: inner,
        path: [...path, key, name],
        depth,
      }));
    return [];
  });
}

/** Checks one schema, without those inside it. */
function ownIssues(
  schema: JsonSchema,
  root: JsonSchema,
  path: Path,
  patterns: PatternBudget,
): PartialIssue[] {
  const issues: PartialIssue[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const keyPath = [...path, key];
    if (!KEYWORDS.has(key)) {
      const { path: _, allowed, ...issue } = unknownKey("", key, Array.from(KEYWORDS.keys()));
      // All keywords are listed only if there is no near match: the list is long.
      issues.push({
        ...issue,
        path: keyPath,
        ...(issue.did_you_mean === undefined && { allowed: allowed! }),
      });
    } else if (key === "$ref") issues.push(...refIssues(value, root, keyPath));
    else if (key === "pattern") issues.push(...patternIssues(value, keyPath, patterns));
    else if (key === "patternProperties" && isObject(value))
      issues.push(...Object.keys(value).flatMap((name) => patternIssues(name, [...keyPath, name], patterns)));
    else if (key === "format") issues.push(...formatIssues(value, keyPath));
    else if (key === "$schema" && value !== DRAFT)
      issues.push({ path: keyPath, code: "not_allowed", message: `must be ${DRAFT}`, fix: "Remove it." });
  }
  return issues;
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

function refIssues(ref: unknown, root: JsonSchema, path: Path): PartialIssue[] {
  if (typeof ref !== "string" || pointerParts(ref) === undefined)
    return [
      {
        path,
        code: "not_allowed",
        message: "must refer to a place in this schema: external references are not supported",
        fix: "Put the schema under $defs and write #/$defs/name.",
      },
    ];
  if (resolveRef(ref, root) !== undefined) return [];
  const names = Object.keys(isObject(root["$defs"]) ? root["$defs"] : {}).map((name) => `#/$defs/${name}`);
  const near = nearMatch(ref, names);
  return [
    {
      path,
      code: "unknown_reference",
      message: "refers to a place that does not exist in this schema",
      ...(names.length > 0 && { allowed: names }),
      ...(near !== undefined && { did_you_mean: near }),
    },
  ];
}

interface PatternBudget {
  /** Number of instructions that further patterns may have. */
  remaining: number;
}

function patternIssues(pattern: unknown, path: Path, budget: PatternBudget): PartialIssue[] {
  if (typeof pattern !== "string") return [];
  const before = budget.remaining;
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  budget.remaining -= estimatePatternSize(pattern) + pattern.length + classes * UNICODE_CLASS_COST;
  if (budget.remaining < 0) {
    // Reported once. The patterns after it are not compiled.
    if (before < 0) return [];
    const message = "makes the patterns of the schema too large together";
    return [{ path, code: "too_large", message, fix: "Use fewer repetitions or fewer patterns." }];
  }
  try {
    RE2JS.compile(pattern);
    return [];
  } catch (error) {
    return [
      {
        path,
        code: "invalid_pattern",
        message: `is not a valid pattern: ${(error as Error).message}`,
        fix: "Write it in RE2 syntax, without look-around and back references.",
      },
    ];
  }
}

function formatIssues(format: unknown, path: Path): PartialIssue[] {
  if (typeof format !== "string" || (FORMATS as readonly string[]).includes(format)) return [];
  const near = nearMatch(format, FORMATS);
  return [
    {
      path,
      code: "not_allowed",
      message: `must be one of ${FORMATS.join(", ")}`,
      allowed: [...FORMATS],
      ...(near !== undefined && { did_you_mean: near }),
    },
  ];
}
