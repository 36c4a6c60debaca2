/** Checks whether a value of a known shape can match the schema of a field. Only a certain mismatch is an issue. */
import type { z } from "zod";
import type { PartialIssue } from "../../../core/connections.ts";
import type { Shape } from "../../../core/shapes.ts";

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
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  null: "null",
  list: "a list",
  map: "an object",
  object: "an object",
};
export const describeKind = (shape: Shape): string => KIND_NAMES[shape.kind] ?? "a value of another type";

/** Returns issues with paths below the field. Literal parts of the value are validated by its schema. */
export function fitIssues(schema: z.ZodType, shape: Shape): PartialIssue[] {
  const def = schema.def as unknown as Def;
  if (shape.kind === "any") return [];
  if (def.innerType !== undefined) {
    const acceptsNull = def.type === "nullable" || def.type === "optional" || def.type === "default";
    return acceptsNull && shape.kind === "null" ? [] : fitIssues(def.innerType, shape);
  }
  if (def.options !== undefined) {
    const results = def.options.map((option) => fitIssues(option, shape));
    return results.find((issues) => issues.length === 0) ?? results.find(isInside) ?? results[0] ?? [];
  }
  const accepted = ACCEPTED_KINDS[def.type];
  if (accepted === undefined) return [];
  if (!accepted.includes(shape.kind)) return [wrongKind(accepted[0]!, shape)];
  return innerIssues(def, shape);
}

const isInside = (issues: readonly PartialIssue[]): boolean =>
  issues.every((issue) => (issue.path ?? []).length > 0);

function innerIssues(def: Def, shape: Shape): PartialIssue[] {
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
