/** Checks a definition against its schema, step by step, and finds expressions in fields that take none. */
import { z } from "zod";
import {
  COMMON_STEP_FIELDS,
  type StepDefinition,
  type Definition,
  EXPRESSION_PATTERN,
  MAX_STEPS,
} from "../../../../schemas/workflow-definition.ts";
import { locatedIssues } from "../../../core/issues.ts";
import { nearMatch } from "../../../core/near-match.ts";
import type { AnyStepType, Field } from "../../../core/step-type.ts";
import { FILE_FIELDS, stepSchema, topLevelSchema } from "../definition-schema.ts";
import { prefixPath, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";

type Parsed = Omit<Definition, "steps">;

export interface ParsedStep {
  /** The step before parsing. */
  raw: Readonly<Record<string, unknown>>;
  /** Its id if that is valid; else a placeholder, `#` with its position, which no id can equal. */
  id: string;
  type: AnyStepType | undefined;
  /** The step with defaults; undefined if it has issues. */
  parsed: StepDefinition | undefined;
  /** Fields that have issues. */
  invalidFields: ReadonlySet<string>;
}

export interface ParsedDefinition {
  issues: LocatedIssue[];
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
  const types = new Map(stepTypes.map((type) => [type.type, { type, schema: stepSchema(type) }]));
  const topSchemas = { plain: topLevelSchema(false), file: topLevelSchema(true) };
  // The schema of a step of an unknown type.
  const anyStep = z.looseObject({ ...COMMON_STEP_FIELDS, type: z.unknown() });

  function parseStep(step: unknown, index: number, issues: LocatedIssue[]): ParsedStep {
    const path = ["steps", index];
    const raw = (
      typeof step === "object" && step !== null && !Array.isArray(step) ? step : {}
    ) as ParsedStep["raw"];
    const entry = typeof raw["type"] === "string" ? types.get(raw["type"]) : undefined;
    const schema = entry?.schema ?? anyStep;
    const schemaIssues: LocatedIssue[] =
      entry === undefined && raw === step ? [unknownType(raw["type"], types.keys())] : [];
    const parsed = (schema as z.ZodType).safeParse(step, { reportInput: true });
    if (!parsed.success) schemaIssues.push(...located(parsed.error, schema));
    const literals = literalIssues(raw, literalFields(entry?.type));
    const stepIssues = mergeIssues(literals, schemaIssues);
    issues.push(...stepIssues.map((issue) => prefixPath(path, issue)));
    return {
      raw,
      id: stepIdOf(raw["id"]) ?? `#${index}`,
      type: entry?.type,
      parsed: parsed.success && stepIssues.length === 0 ? (parsed.data as StepDefinition) : undefined,
      invalidFields: new Set(stepIssues.map((issue) => String(issue.path[0] ?? ""))),
    };
  }

  return {
    async check(written, file, yieldToEventLoop) {
      const schema = file ? topSchemas.file : topSchemas.plain;
      const parsed = schema.safeParse(written, { reportInput: true });
      const schemaIssues = parsed.success ? [] : located(parsed.error, schema);
      const literals = literalIssues(written, TOP_LITERALS);
      const issues = mergeIssues(literals, schemaIssues);
      const top = issues.length === 0 ? partsOf(parsed.data!) : undefined;
      const steps: ParsedStep[] = [];
      const list = Array.isArray(written["steps"]) ? (written["steps"] as unknown[]) : [];
      const topLevelCount = issues.length;
      // Steps after the maximum number of issues are not checked: their issues would not be reported.
      for (const [index, step] of list.entries()) {
        if (issues.length - topLevelCount >= MAX_ISSUES || index >= MAX_STEPS) break;
        steps.push(parseStep(step, index, issues));
        await yieldToEventLoop();
      }
      return { issues, topLevel: top?.top, fileFields: top?.file ?? {}, steps };
    },
  };
}

const isFile = ([key]: [string, unknown]): boolean => Object.hasOwn(FILE_FIELDS, key);

const partsOf = (data: Record<string, unknown>): { top: Parsed; file: Record<string, unknown> } => {
  const { steps: _, ...rest } = data;
  const entries = Object.entries(rest);
  return {
    top: Object.fromEntries(entries.filter((entry) => !isFile(entry))),
    file: Object.fromEntries(entries.filter(isFile)),
  };
};

const located = (error: z.ZodError, schema: z.ZodType): LocatedIssue[] =>
  locatedIssues(error, schema).map(({ path, issue }) => prefixPath(path, { ...issue, path: [] }));

const stepIdOf = (id: unknown): string | undefined => {
  const parsed = COMMON_STEP_FIELDS.id.safeParse(id);
  return parsed.success ? parsed.data : undefined;
};

/** Adds the issues of the schema, except those at or below the path of a misplaced expression. */
const mergeIssues = (
  literals: readonly LocatedIssue[],
  schemaIssues: readonly LocatedIssue[],
): LocatedIssue[] => [
  ...literals,
  ...schemaIssues.filter((issue) => !literals.some((literal) => contains(literal.path, issue.path))),
];

/** Whether a path is `outer`, or below it. */
const contains = (outer: readonly PropertyKey[], path: readonly PropertyKey[]): boolean =>
  outer.length <= path.length && outer.every((part, index) => part === path[index]);

function unknownType(value: unknown, known: Iterable<string>): LocatedIssue {
  const allowed = [...known];
  if (value === undefined)
    return {
      path: ["type"],
      code: "missing",
      message: "is required",
      allowed,
      fix: `Set it to one of ${allowed.join(", ")}.`,
    };
  const near = typeof value === "string" ? nearMatch(value, allowed) : undefined;
  return {
    path: ["type"],
    code: "not_allowed",
    message: `must be one of ${allowed.join(", ")}`,
    allowed,
    ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
  };
}

/** Fields of every step that take no expressions. A description may contain any text. */
const COMMON_LITERALS = ["id", "type", "needs", "concurrency", "retry", "timeout", "on_error", "cache"];
const TOP_LITERALS = [
  "inputs",
  "state",
  "timeout",
  "concurrency",
  "priority",
  "on_failure",
  "expose_as_tool",
  "id",
];
/** Keywords of a JSON Schema that may contain any text. */
const ANY_TEXT: ReadonlySet<PropertyKey> = new Set(["description", "title", "$comment", "pattern"]);

const literalFields = (type: AnyStepType | undefined): string[] => [
  ...COMMON_LITERALS,
  ...Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind }]) =>
    kind === "literal" && name !== "description" ? [name] : [],
  ),
];

function literalIssues(value: Readonly<Record<string, unknown>>, fields: readonly string[]): LocatedIssue[] {
  return [...new Set(fields)].flatMap((field) =>
    Object.hasOwn(value, field) ? expressionsIn(value[field], [field]) : [],
  );
}

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
