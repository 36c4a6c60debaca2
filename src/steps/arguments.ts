/** What can be known before running of the arguments that another's JSON Schema describes. */
import { HOLDS_EXPRESSION } from "../../schemas/workflow-definition.ts";
import type { PartialFault } from "../core/connections.ts";
import type { Shape } from "../core/shapes.ts";
import type { StepCheckContext, WrittenStep } from "../core/step-type.ts";
import { inputsValidator, schemaFaults, shapeOfSchema } from "../core/json-schema/index.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Checks what is written under `field` against a schema of an object: names that are missing or unknown, values that
 * hold no expression, and of the others their kind as far as it is known.
 * @returns faults whose paths are below the step; none where the schema itself can't be used
 */
export function argumentFaults(
  field: string,
  schema: Schema,
  step: WrittenStep,
  ctx: Pick<StepCheckContext, "shapeAt">,
): PartialFault[] {
  const written = step[field] ?? {};
  // One expression for all of them is known when it runs.
  if (typeof written !== "object" || Array.isArray(written)) return [];
  const { $schema: _, ...usable } = schema;
  if (usable["properties"] === undefined || schemaFaults(usable).length > 0) return [];

  const entries = Object.entries(written as Schema);
  const dynamic = new Set(entries.filter(([, value]) => isDynamic(value)).map(([name]) => name));
  const parsed = inputsValidator(usable).parse(
    Object.fromEntries(entries.filter(([name]) => !dynamic.has(name))),
  );
  const faults = ("faults" in parsed ? parsed.faults : []).filter(({ path: [name] = [] }) =>
    name === undefined ? dynamic.size === 0 : !dynamic.has(String(name)),
  );
  const known = shapeOfSchema(usable);
  const unknown =
    known.kind === "object" ? [...dynamic].filter((name) => !Object.hasOwn(known.fields, name)) : [];
  const names = unknown.length === 0 ? [] : unknownNames(usable, unknown);
  const kinds = known.kind === "object" ? wrongKinds(field, known.fields, dynamic, ctx) : [];
  return [...faults, ...names, ...kinds].map((fault) =>
    Object.assign({}, fault, { path: [field, ...(fault.path ?? [])] }),
  );
}

const isDynamic = (value: unknown): boolean => HOLDS_EXPRESSION.test(JSON.stringify(value) ?? "");

/** The schema's own words for names that it does not know; what they hold does not matter. */
function unknownNames(schema: Schema, names: readonly string[]): PartialFault[] {
  const parsed = inputsValidator(schema).parse(Object.fromEntries(names.map((name) => [name, null])));
  const wanted = new Set(names);
  return ("faults" in parsed ? parsed.faults : []).filter(
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
): PartialFault[] {
  return [...names].flatMap((name) => {
    const expected = SPOKEN[wanted[name]?.kind ?? "any"];
    const given = SPOKEN[ctx.shapeAt(field, name).kind];
    if (expected === undefined || given === undefined || expected === given) return [];
    return [{ path: [name], code: "wrong_type", message: `must be ${expected}, not ${given}` }];
  });
}
