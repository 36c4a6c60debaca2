/** Whether a value of which only the shape is known can be what a field needs. Only what surely can't be is a fault. */
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

/** What each kind of schema takes; of any other nothing is known. */
const TAKES: Readonly<Record<string, readonly Shape["kind"][]>> = {
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

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  null: "null",
  list: "a list",
  map: "an object",
  object: "an object",
};
export const describeKind = (shape: Shape): string => WORDS[shape.kind] ?? "something else";

/** Faults with paths below the field. Literal parts of the value have been held against the schema already. */
export function fitIssues(schema: z.ZodType, shape: Shape): PartialIssue[] {
  const def = schema.def as unknown as Def;
  if (shape.kind === "any") return [];
  if (def.innerType !== undefined) {
    const leavesOut = def.type === "nullable" || def.type === "optional" || def.type === "default";
    return leavesOut && shape.kind === "null" ? [] : fitIssues(def.innerType, shape);
  }
  if (def.options !== undefined) {
    const tried = def.options.map((option) => fitIssues(option, shape));
    return tried.find((issues) => issues.length === 0) ?? tried.find(isInside) ?? tried[0] ?? [];
  }
  const taken = TAKES[def.type];
  if (taken === undefined) return [];
  if (!taken.includes(shape.kind)) return [wrongKind(taken[0]!, shape)];
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

function wrongKind(wanted: Shape["kind"], shape: Shape): PartialIssue {
  const fix =
    wanted === "string"
      ? "Make it text: put other words around the expression, or use string(…) or to_json(…)."
      : wanted === "number" && shape.kind === "string"
        ? "Make it a number: double(…)."
        : undefined;
  return {
    path: [],
    code: "wrong_type",
    message: `must be ${WORDS[wanted]}, and the expression gives ${describeKind(shape)}`,
    ...(fix !== undefined && { fix }),
  };
}
