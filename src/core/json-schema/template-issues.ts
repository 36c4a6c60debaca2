/** Checks a value with templates against a JSON Schema before a run, in every part that is known by then. */
import { EXPRESSION_PATTERN } from "../../../schemas/field-values.ts";
import type { PartialIssue } from "../connections.ts";
import { unknownKey } from "../issues.ts";
import { ANY, type Shape } from "../shapes.ts";
import type { JsonSchema } from "./dialect.ts";
import { inputsValidator, valueIssues } from "./inputs-validator.ts";
import { resolveRef } from "./references.ts";
import { UNKNOWN_FIELD_KEYWORDS } from "./schema-at.ts";
import { schemaIssues } from "./schema-issues.ts";
import { missingFields, shapeIssues, wrongKind } from "./shape-issues.ts";

/** Maximum number of issues of one value. */
const MAX_ISSUES = 100;
/** Maximum number of nested references and combined schemas that are followed. */
const MAX_DEPTH = 64;

/** Keywords that accept fields which `properties` does not list. */
const OTHER_FIELD_KEYWORDS = [
  "$ref",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
];

/**
 * Checks the inputs of a run, or the arguments of a tool. Parts without a template are validated, and expressions are
 * compared by their shapes: only a certain mismatch is an issue.
 * @param schema the JSON Schema of an object; names that it does not declare are refused unless it says otherwise
 * @param written the value, with templates
 * @param shape the shape of the whole value
 * @returns issues with paths inside the value; none if the schema itself is invalid
 */
export function templateIssues(schema: JsonSchema, written: unknown, shape: Shape): PartialIssue[] {
  const { $schema: _, ...root } = schema;
  if (schemaIssues(root).length > 0) return [];
  if (!containsTemplate(written)) {
    const parsed = inputsValidator(root).parse(written);
    return "issues" in parsed ? parsed.issues : [];
  }
  const closed = !UNKNOWN_FIELD_KEYWORDS.some((word) => Object.hasOwn(root, word));
  const issues: PartialIssue[] = [];
  const top = closed ? { ...root, unevaluatedProperties: false } : root;
  visit({ root, issues }, top, written, shape, [], 0);
  return issues.slice(0, MAX_ISSUES);
}

/**
 * Checks a value with templates against the schema of a value of any type, such as the output of a run.
 * @param shape the shape of the whole value
 * @returns issues with paths inside the value; none if the schema itself is invalid
 */
export function templateValueIssues(schema: JsonSchema, written: unknown, shape: Shape): PartialIssue[] {
  if (schemaIssues(schema).length > 0) return [];
  const issues: PartialIssue[] = [];
  visit({ root: schema, issues }, schema, written, shape, [], 0);
  return issues.slice(0, MAX_ISSUES);
}

/** Whether a value contains an expression. */
function containsTemplate(value: unknown): boolean {
  if (typeof value === "string") return EXPRESSION_PATTERN.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(containsTemplate);
}

interface Walk {
  root: JsonSchema;
  issues: PartialIssue[];
}

function visit(
  walk: Walk,
  schema: unknown,
  value: unknown,
  shape: Shape,
  path: PropertyKey[],
  depth: number,
): void {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH || walk.issues.length > MAX_ISSUES)
    return;
  const written = schema as JsonSchema;
  const report = (issues: readonly PartialIssue[]): void => {
    walk.issues.push(
      ...issues.map((issue) => Object.assign({}, issue, { path: [...path, ...(issue.path ?? [])] })),
    );
  };
  if (!containsTemplate(value)) return report(knownIssues(walk.root, written, value));
  if (typeof value === "string") return report(shapeIssues(written, shape, walk.root));
  const inner = (of: unknown): void => visit(walk, of, value, shape, path, depth + 1);
  if (typeof written["$ref"] === "string") inner(resolveRef(written["$ref"], walk.root));
  if (Array.isArray(written["allOf"])) written["allOf"].forEach(inner);
  const kind = Array.isArray(value) ? "list" : "object";
  const mismatch = wrongKind(written, kind, walk.root);
  if (mismatch !== undefined) return report([mismatch]);
  if (Array.isArray(value)) {
    report(lengthIssues(written, value.length));
    const of = shape.kind === "list" ? shape.of : ANY;
    for (const [index, item] of (value as unknown[]).entries())
      visit(walk, itemSchema(written, index), item, of, [...path, index], depth + 1);
    return;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  report([...missingFields(written, Object.keys(fields)), ...unknownFields(written, Object.keys(fields))]);
  const shapeOf = (name: string): Shape => {
    if (shape.kind === "map") return shape.of;
    return shape.kind === "object" && Object.hasOwn(shape.fields, name) ? shape.fields[name]! : ANY;
  };
  const { required } = written;
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  for (const [name, field] of Object.entries(fields)) {
    // A field that is not required may be null.
    const judged = isRequired(name) ? shapeOf(name) : { ...shapeOf(name), nullable: false };
    visit(walk, fieldSchema(written, name), field, judged, [...path, name], depth + 1);
  }
}

/** Validates a value without templates. The definitions of the whole schema are in reach of the part. */
function knownIssues({ $defs }: JsonSchema, schema: JsonSchema, value: unknown): PartialIssue[] {
  const usable = $defs === undefined ? schema : { ...schema, $defs };
  // A reference to another part of the whole schema can't be followed here.
  return schemaIssues(usable).length > 0 ? [] : valueIssues(usable, value);
}

const propertiesOf = ({ properties }: JsonSchema): JsonSchema =>
  typeof properties === "object" && properties !== null ? (properties as JsonSchema) : {};

/** The schema of a field; undefined if it is not known. */
function fieldSchema(schema: JsonSchema, name: string): unknown {
  const properties = propertiesOf(schema);
  if (Object.hasOwn(properties, name)) return properties[name];
  return schema["patternProperties"] === undefined ? schema["additionalProperties"] : undefined;
}

function itemSchema({ prefixItems, items }: JsonSchema, index: number): unknown {
  if (!Array.isArray(prefixItems)) return items;
  return index < prefixItems.length ? (prefixItems as unknown[])[index] : items;
}

function lengthIssues({ minItems, maxItems }: JsonSchema, count: number): PartialIssue[] {
  if (typeof minItems === "number" && count < minItems)
    return [{ code: "too_short", message: `must have at least ${minItems} items, got ${count}` }];
  if (typeof maxItems === "number" && count > maxItems)
    return [{ code: "too_long", message: `must have at most ${maxItems} items, got ${count}` }];
  return [];
}

/** Fields that the schema certainly refuses. */
function unknownFields(schema: JsonSchema, names: readonly string[]): PartialIssue[] {
  const closed = schema["additionalProperties"] === false || schema["unevaluatedProperties"] === false;
  const others = OTHER_FIELD_KEYWORDS.some((word) => Object.hasOwn(schema, word) && schema[word] !== false);
  if (!closed || others) return [];
  const allowed = Object.keys(propertiesOf(schema));
  return names
    .filter((name) => !allowed.includes(name))
    .map((name) => Object.assign({}, unknownKey("", name, allowed), { path: [name] }));
}
