/** What is wrong with a JSON Schema as somebody wrote it, each fault with its place in the schema. */
import { RE2JS } from "re2js";
import type { PartialIssue } from "../connections.ts";
import { unknownKey } from "../issues.ts";
import { lazy } from "../lazy.ts";
import { nearMatch } from "../near-match.ts";
import { estimatePatternSize } from "../pattern-size.ts";
import { FORMATS, type JsonSchema, KEYWORDS, newAjv } from "./dialect.ts";
import { describeErrors } from "./errors.ts";
import { memoize } from "./memoize.ts";
import { pointerParts, resolveRef } from "./references.ts";
import { isTimeout, runWithTimeout } from "./run-with-timeout.ts";

const LARGEST = 64 * 1024;
const MOST_SCHEMAS = 500;
const DEEPEST = 32;
const COMPILE_MS = 500;

/** Instructions of all patterns of a schema together. To compile so many takes well under 0.2 s. */
const MOST_INSTRUCTIONS = 50_000;
/** What a class of Unicode characters (`\pL`) costs: a table of hundreds of ranges. */
const PER_UNICODE_CLASS = 100;

type Path = PropertyKey[];

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** All faults of a schema; none means that a validator can be made of it. */
export function schemaIssues(schema: unknown): PartialIssue[] {
  if (!isObject(schema))
    return [{ path: [], code: "wrong_type", message: "must be a JSON Schema, an object" }];
  const size = JSON.stringify(schema).length;
  if (size > LARGEST)
    return [
      {
        path: [],
        code: "too_large",
        message: `is a schema of ${size} characters; at most ${LARGEST} are taken`,
      },
    ];
  return [...issuesWithin(schema)];
}

const issuesWithin = memoize((schema): readonly PartialIssue[] => {
  const { issues, defaults } = walk(schema);
  if (issues.length > 0) return issues;
  // Before the time counts: stopped half-way it would stay so.
  meta().getSchema(DRAFT);
  try {
    return runWithTimeout(COMPILE_MS, () => compileIssues(schema, defaults));
  } catch (error) {
    const message = isTimeout(error)
      ? "is a schema that takes too long to prepare: make it smaller"
      : `is not a usable JSON Schema: ${(error as Error).message}`;
    return [{ path: [], code: "invalid_schema", message }];
  }
});

/** The faults that no single schema shows: the meta-schema's, and defaults that don't fit. */
function compileIssues(schema: JsonSchema, defaults: readonly Path[]): PartialIssue[] {
  const dialect = meta();
  if (dialect.validateSchema(schema) !== true)
    return firstOfEach(describeErrors(dialect.errors ?? [], schema));
  const ajv = newAjv({ useDefaults: false, allErrors: true });
  ajv.addSchema(schema, ROOT, undefined, false);
  ajv.getSchema(ROOT);
  if (defaults.length === 0) return [];
  // One validator for all of them: to compile each by itself would take long.
  const validate = ajv.compile({
    prefixItems: defaults.map((path) => ({ $ref: `${ROOT}#/${path.map(pointerPart).join("/")}` })),
  });
  const values = defaults.map((path) => at(schema, [...path, "default"]));
  if (validate(values)) return [];
  const found = describeErrors(validate.errors ?? [], values).map(
    ({ path, message, ...issue }): PartialIssue => {
      const [index, ...below] = path ?? [];
      const at = [...defaults[index as number]!, "default", ...below];
      const said = `does not fit the schema that it is the default of: it ${message}`;
      return Object.assign(issue, { path: at, message: said });
    },
  );
  return firstOfEach(found);
}

const ROOT = "millrace:schema";

/** Knows the meta-schema and nothing else: to prepare that takes longer than most schemas do. */
const meta = lazy(() => newAjv({ useDefaults: false, allErrors: true }));

/** Of several faults at one place the first: the others tell of forms that were not meant. */
const firstOfEach = (issues: PartialIssue[]): PartialIssue[] => {
  const first = new Map(issues.toReversed().map((issue) => [JSON.stringify(issue.path), issue]));
  return issues.filter((issue) => first.get(JSON.stringify(issue.path)) === issue);
};

const pointerPart = (part: PropertyKey): string =>
  encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"));

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((here, part) => (here as Record<PropertyKey, unknown>)[part], value);

/** Looks at every schema inside. */
function walk(root: JsonSchema): { issues: PartialIssue[]; defaults: Path[] } {
  const issues: PartialIssue[] = [];
  const defaults: Path[] = [];
  const left: { schema: unknown; path: Path; depth: number }[] = [{ schema: root, path: [], depth: 0 }];
  const patterns: PatternRoom = { left: MOST_INSTRUCTIONS };
  let count = 0;
  for (let next = left.pop(); next !== undefined && issues.length < 100; next = left.pop()) {
    const { schema, path, depth } = next;
    count += 1;
    if (count > MOST_SCHEMAS || depth > DEEPEST) {
      const bound = count > MOST_SCHEMAS ? `${MOST_SCHEMAS} schemas` : `${DEEPEST} levels`;
      issues.push({ path, code: "too_large", message: `is more than a schema may hold: ${bound}` });
      break;
    }
    if (typeof schema === "boolean") continue;
    if (!isObject(schema)) {
      issues.push({ path, code: "wrong_type", message: "must be a JSON Schema: an object, true or false" });
      continue;
    }
    if (Object.hasOwn(schema, "default")) defaults.push(path);
    issues.push(...ownIssues(schema, root, path, patterns));
    left.push(...innerSchemas(schema, path, depth + 1).toReversed());
  }
  return { issues, defaults };
}

function innerSchemas(schema: JsonSchema, path: Path, depth: number) {
  return Object.entries(schema).flatMap(([key, value]) => {
    const holds = KEYWORDS.get(key);
    if (holds === "schema") return [{ schema: value, path: [...path, key], depth }];
    if (holds === "schemas" && Array.isArray(value))
      return value.map((it: unknown, index) => ({ schema: it, path: [...path, key, index], depth }));
    if (holds === "named" && isObject(value))
      return Object.entries(value).map(([name, it]) => ({ schema: it, path: [...path, key, name], depth }));
    return [];
  });
}

/** The faults of one schema, those inside it aside. */
function ownIssues(schema: JsonSchema, root: JsonSchema, path: Path, patterns: PatternRoom): PartialIssue[] {
  const issues: PartialIssue[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const here = [...path, key];
    if (!KEYWORDS.has(key)) {
      const { path: _, allowed, ...issue } = unknownKey("", key, Array.from(KEYWORDS.keys()));
      // The whole vocabulary only where there is no near word: it is long.
      issues.push({ ...issue, path: here, ...(issue.did_you_mean === undefined && { allowed: allowed! }) });
    } else if (key === "$ref") issues.push(...refIssues(value, root, here));
    else if (key === "pattern") issues.push(...patternIssues(value, here, patterns));
    else if (key === "patternProperties" && isObject(value))
      issues.push(...Object.keys(value).flatMap((it) => patternIssues(it, [...here, it], patterns)));
    else if (key === "format") issues.push(...formatIssues(value, here));
    else if (key === "$schema" && value !== DRAFT)
      issues.push({ path: here, code: "not_allowed", message: `must be ${DRAFT}`, fix: "Leave it out." });
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
        message: "must point into this schema: nothing is fetched from elsewhere",
        fix: "Put the schema under $defs and write #/$defs/name.",
      },
    ];
  if (resolveRef(ref, root) !== undefined) return [];
  const names = Object.keys(isObject(root["$defs"]) ? root["$defs"] : {}).map((it) => `#/$defs/${it}`);
  const near = nearMatch(ref, names);
  return [
    {
      path,
      code: "unknown_reference",
      message: "points at nothing in this schema",
      ...(names.length > 0 && { allowed: names }),
      ...(near !== undefined && { did_you_mean: near }),
    },
  ];
}

interface PatternRoom {
  /** Instructions that the patterns may still make. */
  left: number;
}

function patternIssues(pattern: unknown, path: Path, room: PatternRoom): PartialIssue[] {
  if (typeof pattern !== "string") return [];
  const before = room.left;
  const classes = pattern.match(/\\p/gi)?.length ?? 0;
  room.left -= estimatePatternSize(pattern) + pattern.length + classes * PER_UNICODE_CLASS;
  if (room.left < 0) {
    // Told once; none after it is compiled.
    if (before < 0) return [];
    const message = "is too large together with the patterns before it";
    return [{ path, code: "too_large", message, fix: "Repeat less, or write fewer patterns." }];
  }
  try {
    RE2JS.compile(pattern);
    return [];
  } catch (error) {
    return [
      {
        path,
        code: "invalid_pattern",
        message: `is not a pattern that can be used: ${(error as Error).message}`,
        fix: "Use RE2's syntax: no look-around and no back references.",
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
