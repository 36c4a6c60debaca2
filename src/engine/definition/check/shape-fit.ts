/** Checks whether a value of a known shape can match the schema of a field. Only a certain mismatch is an issue. */
import type { z } from "zod";
import type { PartialIssue } from "../../../core/connections.ts";
import type { Shape } from "../../../core/shapes.ts";
import { hasErrors } from "./check-report.ts";

interface Def {
  type: string;
  innerType?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  shape?: Readonly<Record<string, z.ZodType>>;
  values?: readonly unknown[];
  entries?: Readonly<Record<string, unknown>>;
}

/** The kinds that each schema type accepts. Other schema types are not checked. */
const ACCEPTED_KINDS: Readonly<Record<string, readonly Shape["kind"][]>> = {
  string: ["string"],
  enum: ["string"],
  number: ["number"],
  int: ["number"],
  boolean: ["boolean"],
  null: ["null"],
  array: ["list"],
  object: ["object", "map"],
  record: ["object", "map"],
};

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  boolean: "a boolean",
  null: "null",
  list: "a list",
  map: "an object",
  object: "an object",
};
export const describeKind = (shape: Shape): string => KIND_NAMES[shape.kind] ?? "a value of another type";

/**
 * Checks the value of a field. Null leaves out an optional field.
 * @returns issues with paths below the field. Literal parts of the value are validated by its schema
 */
export const fieldIssues = (schema: z.ZodType, shape: Shape): PartialIssue[] =>
  shape.kind === "any" || (shape.kind === "null" && schema.safeParse(undefined).success)
    ? []
    : fitIssues(schema, schema.safeParse(undefined).success ? { ...shape, nullable: false } : shape);

function fitIssues(schema: z.ZodType, shape: Shape): PartialIssue[] {
  const def = schema.def as unknown as Def;
  if (shape.kind === "any") return [];
  if (shape.kind === "null" || shape.nullable === true)
    return schema.safeParse(null).success
      ? shape.kind === "null"
        ? []
        : fitIssues(schema, { ...shape, nullable: false })
      : nullIssues(schema, shape);
  if (def.innerType !== undefined) return fitIssues(def.innerType, shape);
  if (def.options !== undefined) {
    const results = def.options.map((option) => fitIssues(option, shape));
    return (
      results.find((issues) => issues.length === 0) ??
      results.find((issues) => !hasErrors(issues)) ??
      results.find(isInside) ??
      results[0] ??
      []
    );
  }
  const accepted = ACCEPTED_KINDS[def.type];
  if (accepted === undefined) return [];
  if (!accepted.includes(shape.kind)) return [wrongKind(accepted[0]!, shape)];
  return innerIssues(def, shape);
}

/** The issues of a value that is null, or may be, where the schema does not accept null. */
function nullIssues(schema: z.ZodType, shape: Shape): PartialIssue[] {
  if (shape.kind === "null")
    return [
      { path: [], code: "wrong_type", message: "must not be null", fix: "Write a value, or remove it." },
    ];
  const issues = fitIssues(schema, { ...shape, nullable: false });
  return hasErrors(issues)
    ? issues
    : [
        {
          path: [],
          code: "maybe_null",
          message: "must not be null, but the expression may return null",
          fix: "Write a default inside it with ??, or skip the step with if where it is null.",
          severity: "warning",
        },
      ];
}

const isInside = (issues: readonly PartialIssue[]): boolean =>
  issues.every((issue) => (issue.path ?? []).length > 0);

function innerIssues(def: Def, shape: Shape): PartialIssue[] {
  if (shape.kind === "list" && def.element !== undefined)
    return fitIssues(def.element, shape.of).map((issue) =>
      Object.assign({}, issue, { path: [], message: `has items of which each ${issue.message}` }),
    );
  if (shape.kind !== "object") return [];
  return Object.entries(shape.fields).flatMap(([key, inner]) => {
    const schema = def.type === "record" ? def.valueType : def.shape?.[key];
    if (schema === undefined) return [];
    return fitIssues(schema, inner).map(({ path = [], ...issue }) =>
      Object.assign(issue, { path: [key, ...path] }),
    );
  });
}

function wrongKind(expected: Shape["kind"], shape: Shape): PartialIssue {
  const fix =
    expected === "string"
      ? "Convert it with string(…) or to_json(…)."
      : expected === "number" && shape.kind === "string"
        ? "Convert it with double(…)."
        : undefined;
  return {
    path: [],
    code: "wrong_type",
    message: `must be ${KIND_NAMES[expected]}, but the expression returns ${describeKind(shape)}`,
    subject: expected,
    ...(fix !== undefined && { fix }),
  };
}
