/** Checks the arguments of a tool or workflow against their JSON Schema before the step runs. */
import { EXPRESSION_PATTERN } from "../../schemas/workflow-definition.ts";
import type { PartialIssue } from "../core/connections.ts";
import type { Shape } from "../core/shapes.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";
import { inputsValidator, schemaIssues, shapeOfSchema } from "../core/json-schema/index.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Checks the arguments under `field` against a schema of an object: missing and unknown names, values without an
 * expression, and the kinds of the others as far as they are known.
 * @returns issues with paths below the step; none if the schema itself is invalid
 */
export function argumentIssues(
  field: string,
  schema: Schema,
  step: UnresolvedStep,
  ctx: Pick<StepCheckContext, "shapeAt">,
): PartialIssue[] {
  const written = step[field] ?? {};
  // The value of one expression for all arguments is known only when the step runs.
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
  const shape = shapeOfSchema(usable);
  const unknown =
    shape.kind === "object" ? [...dynamic].filter((name) => !Object.hasOwn(shape.fields, name)) : [];
  const nameIssues = unknown.length === 0 ? [] : unknownNames(usable, unknown);
  const kindIssues = shape.kind === "object" ? wrongKinds(field, shape.fields, dynamic, ctx) : [];
  return [...issues, ...nameIssues, ...kindIssues].map((issue) =>
    Object.assign({}, issue, { path: [field, ...(issue.path ?? [])] }),
  );
}

const isDynamic = (value: unknown): boolean => EXPRESSION_PATTERN.test(JSON.stringify(value) ?? "");

/** Reports the names that the schema does not allow, whatever their values. */
function unknownNames(schema: Schema, names: readonly string[]): PartialIssue[] {
  const parsed = inputsValidator(schema).parse(Object.fromEntries(names.map((name) => [name, null])));
  const requested = new Set(names);
  return ("issues" in parsed ? parsed.issues : []).filter(
    ({ code, path: [name] = [] }) => code === "unknown_key" && requested.has(String(name)),
  );
}

const KIND_NAMES: Readonly<Partial<Record<Shape["kind"], string>>> = {
  string: "a string",
  number: "a number",
  boolean: "a boolean",
  list: "a list",
  object: "an object",
  map: "an object",
};

/** Reports expressions whose kind differs from that of the schema. */
function wrongKinds(
  field: string,
  shapes: Readonly<Record<string, Shape>>,
  names: ReadonlySet<string>,
  ctx: Pick<StepCheckContext, "shapeAt">,
): PartialIssue[] {
  return [...names].flatMap((name) => {
    const expected = KIND_NAMES[shapes[name]?.kind ?? "any"];
    const actual = KIND_NAMES[ctx.shapeAt(field, name).kind];
    if (expected === undefined || actual === undefined || expected === actual) return [];
    return [
      {
        path: [name],
        code: "wrong_type",
        message: `must be ${expected}, but the expression returns ${actual}`,
      },
    ];
  });
}
