/** What can be known before running of the arguments that another's JSON Schema describes. */
import { EXPRESSION_PATTERN } from "../../schemas/workflow-definition.ts";
import type { PartialIssue } from "../core/connections.ts";
import type { Shape } from "../core/shapes.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";
import { inputsValidator, schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Checks what is written under `field` against a schema of an object: names that are missing or unknown, values that
 * hold no expression, and of the others their kind as far as it is known.
 * @returns faults whose paths are below the step; none where the schema itself can't be used
 */
export function argumentIssues(
  field: string,
  schema: Schema,
  step: UnresolvedStep,
  ctx: Pick<StepCheckContext, "shapeAt">,
): PartialIssue[] {
  const written = step[field] ?? {};
  // One expression for all of them is known when it runs.
  if (typeof written !== "object" || Array.isArray(written)) return [];
  const { $schema: _, ...usable } = schema;
  if (usable["properties"] === undefined || schemaIssues(usable).length > 0) return [];

  const entries = Object.entries(written as Schema);
  const dynamic = new Set(entries.filter(([, value]) => isDynamic(value)).map(([name]) => name));
  const parsed = inputsValidator(usable).parse(
    Object.fromEntries(entries.filter(([name]) => !dynamic.has(name))),
  );
  const issues = ("issues" in parsed ? parsed.issues : []).filter(({ path: [name] = [] }) =>
    name === undefined ? dynamic.size === 0 : !dynamic.has(String(name)),
  );
  const known = shapeOfSchema(usable);
  const unknown =
    known.kind === "object" ? [...dynamic].filter((name) => !Object.hasOwn(known.fields, name)) : [];
  const names = unknown.length === 0 ? [] : unknownNames(usable, unknown);
  const kinds = known.kind === "object" ? wrongKinds(field, known.fields, dynamic, ctx) : [];
  return [...issues, ...names, ...kinds].map((issue) =>
    Object.assign({}, issue, { path: [field, ...(issue.path ?? [])] }),
  );
}

const isDynamic = (value: unknown): boolean => EXPRESSION_PATTERN.test(JSON.stringify(value) ?? "");

/** The schema's own words for names that it does not know; what they hold does not matter. */
function unknownNames(schema: Schema, names: readonly string[]): PartialIssue[] {
  const parsed = inputsValidator(schema).parse(Object.fromEntries(names.map((name) => [name, null])));
  const wanted = new Set(names);
  return ("issues" in parsed ? parsed.issues : []).filter(
    ({ code, path: [name] = [] }) => code === "unknown_key" && wanted.has(String(name)),
  );
}

const SPOKEN: Readonly<Partial<Record<Shape["kind"], string>>> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  list: "a list",
  object: "an object",
  map: "an object",
};

function wrongKinds(
  field: string,
  wanted: Readonly<Record<string, Shape>>,
  names: ReadonlySet<string>,
  ctx: Pick<StepCheckContext, "shapeAt">,
): PartialIssue[] {
  return [...names].flatMap((name) => {
    const expected = SPOKEN[wanted[name]?.kind ?? "any"];
    const given = SPOKEN[ctx.shapeAt(field, name).kind];
    if (expected === undefined || given === undefined || expected === given) return [];
    return [{ path: [name], code: "wrong_type", message: `must be ${expected}, not ${given}` }];
  });
}
