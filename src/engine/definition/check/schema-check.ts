/** Checks a definition against its schema, step by step, and finds expressions in fields that take none. */
import { z } from "zod";
import {
  COMMON_STEP_FIELDS,
  type StepDefinition,
  type Definition,
  MAX_STEPS,
} from "../../../../schemas/workflow-definition.ts";
import { EXPRESSION_PATTERN } from "../../../../schemas/field-values.ts";
import type { PatchOperation } from "../../../core/json-patch.ts";
import { locatedIssues } from "../../../core/issues.ts";
import type { AnyStepType, Field } from "../../../core/step-type.ts";
import { FILE_FIELDS, stepSchema, topLevelSchema } from "../definition-schema.ts";
import { intendDefinition, TOP_FIELD_NAMES } from "../fixes/intended-definition.ts";
import { isWithin, type MisplacedField, type Path, writtenPath } from "../fixes/intended-fields.ts";
import { intendStep } from "../fixes/intended-step.ts";
import { convertValues, misplacedIssue, typeIssue } from "../fixes/schema-fixes.ts";
import { prefixPath, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";

type Parsed = Omit<Definition, "steps">;

export interface ParsedStep {
  /** The step before parsing, with the fields that it means where it has others. */
  raw: Readonly<Record<string, unknown>>;
  /** Its id if that is valid; else a placeholder, `#` with its position, which no id can equal. */
  id: string;
  type: AnyStepType | undefined;
  /** The step with defaults; undefined if it has issues. */
  parsed: StepDefinition | undefined;
  /** The step without the fields that have issues; undefined if it can't be parsed without them. */
  checkable: StepDefinition | undefined;
  /** Fields whose value is not known because of an issue. */
  invalidFields: ReadonlySet<string>;
  /** What undoes it. */
  undo?: ParsedStep;
  /** What finds out whether its effect happened. */
  lookup?: ParsedStep;
}

export interface ParsedDefinition {
  issues: LocatedIssue[];
  /** The top-level fields that the definition means. */
  intended: Readonly<Record<string, unknown>>;
  /** Converts an issue of the intended definition to one of the definition as written. */
  toWritten(issue: LocatedIssue): LocatedIssue;
  /** The top-level fields; undefined if they have issues. */
  topLevel: Parsed | undefined;
  fileFields: Record<string, unknown>;
  steps: ParsedStep[];
}

export interface SchemaChecker {
  check(
    written: Readonly<Record<string, unknown>>,
    file: boolean,
    yieldToEventLoop: () => Promise<void>,
  ): Promise<ParsedDefinition>;
}

/** @param stepTypes their schemas are built once */
export function schemaChecker(stepTypes: readonly AnyStepType[]): SchemaChecker {
  const types = new Map(stepTypes.map((type) => [type.type, type]));
  const schemas = new Map(stepTypes.map((type) => [type.type, stepSchema(type) as z.ZodType]));
  const topSchemas = { plain: topLevelSchema(false), file: topLevelSchema(true) };
  // The schema of a step of an unknown type.
  const anyStep = z.looseObject({ ...COMMON_STEP_FIELDS, type: z.unknown() });

  /** @param issues receives the issues, with paths as written */
  function parseStep(step: unknown, index: number, issues: LocatedIssue[]): IntendedParsedStep {
    const written = isObject(step) ? step : {};
    const intended = intendStep(written, types);
    const { type } = intended;
    const schema = schemas.get(type?.type ?? "") ?? anyStep;
    const fields = type === undefined ? intended.fields : { ...intended.fields, type: type.type };
    const parsed = schema.safeParse(isObject(step) ? fields : step, { reportInput: true });
    const literals = literalIssues(fields, literalFields(type));
    const found = mergeIssues(literals, parsed.success ? [] : located(parsed.error, schema));
    const converted = convertValues(found, fields, schema, intended.misplaced);
    const typeIssues = isObject(step) ? typeIssue(intended, types.keys()) : [];
    const nameIssues = intended.misplaced.map((field) => misplacedIssue(field, schema));
    const own = [...typeIssues, ...nameIssues, ...converted.issues];
    issues.push(...own.map((issue) => prefixPath(["steps", index], issue)));
    const usable = converted.fields;
    const valid = parsed.success && own.length === 0 ? (parsed.data as StepDefinition) : undefined;
    return {
      raw: usable,
      id: stepIdOf(usable["id"]) ?? `#${index}`,
      type,
      parsed: valid,
      checkable: valid ?? parseWithout(usable, converted.invalidFields, schema),
      invalidFields: converted.invalidFields,
      toWritten: { misplaced: intended.misplaced, converted: converted.paths },
    };
  }

  return {
    async check(written, file, yieldToEventLoop) {
      const schema = file ? topSchemas.file : topSchemas.plain;
      const names = file ? [...TOP_FIELD_NAMES, ...Object.keys(FILE_FIELDS)] : TOP_FIELD_NAMES;
      const { fields, misplaced } = intendDefinition(written, names);
      const parsed = schema.safeParse(fields, { reportInput: true });
      const literals = literalIssues(fields, TOP_LITERALS);
      const found = mergeIssues(literals, parsed.success ? [] : located(parsed.error, schema));
      const converted = convertValues(found, fields, schema, misplaced);
      const issues = [...misplaced.map((field) => misplacedIssue(field, schema)), ...converted.issues];
      const topLevel = issues.length === 0 ? topLevelOf(parsed.data!) : undefined;
      const steps: IntendedParsedStep[] = [];
      const intended = converted.fields;
      const list = Array.isArray(intended["steps"]) ? (intended["steps"] as unknown[]) : [];
      const inSteps: LocatedIssue[] = [];
      // Steps after the maximum number of issues are not checked: their issues would not be reported.
      for (const [index, step] of list.entries()) {
        if (inSteps.length >= MAX_ISSUES || index >= MAX_STEPS) break;
        steps.push(parseStep(step, index, inSteps));
        await yieldToEventLoop();
      }
      const differences = { misplaced, converted: converted.paths };
      issues.push(...inSteps.map((issue) => toWritten(issue, differences, [])));
      return {
        issues,
        topLevel,
        fileFields: file ? validFileFields(fields) : {},
        steps,
        intended,
        toWritten: (issue) => toWritten(issue, differences, steps),
      };
    },
  };
}

/** How the intended fields of an object differ from those as written. */
interface Differences {
  misplaced: readonly MisplacedField[];
  /** The paths of values that are written in another form, in the intended fields. */
  converted: readonly Path[];
}

interface IntendedParsedStep extends ParsedStep {
  toWritten: Differences;
}

/** Returns the path as written. What is inside a value in another form has the path of that value. */
function pathAsWritten(path: Path, { misplaced, converted }: Differences): Path {
  const outer = converted.find((value) => isWithin(value, path));
  return writtenPath(outer ?? path, misplaced);
}

function toWritten(
  issue: LocatedIssue,
  top: Differences,
  steps: readonly IntendedParsedStep[],
): LocatedIssue {
  const convert = (path: Path): Path => {
    const [first, index, ...rest] = path;
    const step = first === "steps" && typeof index === "number" ? steps[index] : undefined;
    const inStep = step === undefined ? path : [first!, index!, ...pathAsWritten(rest, step.toWritten)];
    return pathAsWritten(inStep, top);
  };
  const { patch, ...located } = issue;
  const path = convert(issue.path);
  // A value in another form has to be converted first.
  const isConverted = path.length < issue.path.length;
  return {
    ...located,
    path,
    ...(patch !== undefined && !isConverted && { patch: movePaths(patch, convert) }),
  };
}

const movePaths = (patch: readonly PatchOperation[], convert: (path: Path) => Path): PatchOperation[] =>
  patch.map((operation) => {
    const path = convert(operation.path);
    return "from" in operation
      ? { ...operation, path, from: convert(operation.from) }
      : { ...operation, path };
  });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses a step without the given fields. */
function parseWithout(
  fields: Readonly<Record<string, unknown>>,
  without: ReadonlySet<string>,
  schema: z.ZodType,
): StepDefinition | undefined {
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !without.has(name)));
  const parsed = schema.safeParse(rest);
  return parsed.success ? (parsed.data as StepDefinition) : undefined;
}

const topLevelOf = (data: Record<string, unknown>): Parsed =>
  Object.fromEntries(
    Object.entries(data).filter(([key]) => key !== "steps" && !Object.hasOwn(FILE_FIELDS, key)),
  );

/** The fields of a file that are valid, whatever the others are: a draft may have issues. */
const validFileFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(FILE_FIELDS).flatMap(([name, schema]) => {
      const parsed = schema.safeParse(fields[name]);
      return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : [];
    }),
  );

export const located = (error: z.ZodError, schema: z.ZodType): LocatedIssue[] =>
  locatedIssues(error, schema).map(({ path, issue }) => prefixPath(path, { ...issue, path: [] }));

const stepIdOf = (id: unknown): string | undefined => {
  const parsed = COMMON_STEP_FIELDS.id.safeParse(id);
  return parsed.success ? parsed.data : undefined;
};

/** Adds the issues of the schema, except those at or below the path of a misplaced expression. */
export const mergeIssues = (
  literals: readonly LocatedIssue[],
  schemaIssues: readonly LocatedIssue[],
): LocatedIssue[] => [
  ...literals,
  ...schemaIssues.filter((issue) => !literals.some((literal) => isWithin(literal.path, issue.path))),
];

/** Fields of every step that take no expressions. A description may contain any text. */
const COMMON_LITERALS = [
  "id",
  "type",
  "needs",
  "concurrency",
  "repeat.max",
  "repeat.every",
  "retry",
  "timeout",
  "on_error",
  "cache",
  "on_interrupted",
];
const TOP_LITERALS = [
  "inputs",
  "state",
  "output_schema",
  "timeout",
  "concurrency",
  "priority",
  "on_failure",
  "expose_as_tool",
  "tool_name",
  "id",
];
/** Keywords of a JSON Schema that may contain any text. */
const ANY_TEXT: ReadonlySet<PropertyKey> = new Set(["description", "title", "$comment", "pattern"]);

export const literalFields = (type: AnyStepType | undefined): string[] => [
  ...COMMON_LITERALS,
  ...Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind }]) =>
    kind === "literal" && name !== "description" ? [name] : [],
  ),
];

export function literalIssues(
  value: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): LocatedIssue[] {
  return [...new Set(fields)].flatMap((field) => {
    const path = field.split(".");
    const written = path.reduce<unknown>(ownField, value);
    return written === undefined ? [] : expressionsIn(written, path);
  });
}

const ownField = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

function expressionsIn(value: unknown, path: readonly PropertyKey[]): LocatedIssue[] {
  if (typeof value === "string") return EXPRESSION_PATTERN.test(value) ? [expressionNotAllowed(path)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    ANY_TEXT.has(key) ? [] : expressionsIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function expressionNotAllowed(path: readonly PropertyKey[]): LocatedIssue {
  return {
    path,
    code: "no_expression_here",
    message: "must not contain an expression: its value is fixed when the workflow is saved",
    fix:
      path[0] === "query"
        ? 'Write :name in the query, and params: { name: "${{ … }}" }.'
        : "Write a literal value.",
  };
}
