/** Derives the shape of a value from a JSON Schema. */
import {
  ANY,
  BOOLEAN,
  listOf,
  mapOf,
  MAX_SHAPE_NODES,
  NUMBER,
  nullable,
  objectOf,
  openObjectOf,
  type Shape,
  shapeOfConstant,
  STRING,
} from "../shapes.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** Maximum levels of a schema that are followed; fewer if the shape would exceed its limit. */
const MAX_DEPTH = 8;

/** Cost of a value of `enum` or a name of `required`, in schemas. */
const WORD_COST = 1 / 50;

interface Walk {
  root: JsonSchema;
  /** Whether objects may have fields that the schema does not mention. */
  open: boolean;
  /** Number of schemas that may still be visited. */
  remaining: number;
}

/**
 * Derives the shape of the values that a person or a definition writes by a schema, such as inputs: an object with
 * `properties` has these fields and no others, unless the schema allows others. A field that is not required and has no
 * default may be null: `completeValue` sets it.
 */
export const shapeOfSchema = (schema: unknown): Shape => derive(schema, false);

/**
 * Derives the shape of the values that a program returns by a schema, such as a model or a tool: an object may have
 * fields that the schema does not mention, unless it forbids them.
 */
export const shapeOfReturnedValue = (schema: unknown): Shape => derive(schema, true);

function derive(schema: unknown, open: boolean): Shape {
  // Reducing the depth cuts all fields at the same level; stopping at the limit would cut only the last ones.
  for (let depth = MAX_DEPTH; depth > 0; depth -= 1) {
    const walk: Walk = { root: schema as JsonSchema, open, remaining: MAX_SHAPE_NODES };
    const shape = shapeOf(schema, walk, depth);
    if (walk.remaining >= 0) return shape;
  }
  return ANY;
}

function shapeOf(schema: unknown, walk: Walk, depth: number): Shape {
  walk.remaining -= 1;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return ANY;
  if (depth === 0 || walk.remaining < 0) return ANY;
  const written = schema as JsonSchema;
  const { $ref, type } = written;
  if (typeof $ref === "string") return shapeOf(resolveRef($ref, walk.root), walk, depth - 1);
  if (Array.isArray(type)) return union(type.map((name) => ofType(String(name), written, walk, depth)));
  if (typeof type === "string") return ofType(type, written, walk, depth);
  const forms = written["anyOf"] ?? written["oneOf"];
  if (Array.isArray(forms)) return union(forms.map((form) => shapeOf(form, walk, depth - 1)));
  const values = Object.hasOwn(written, "const") ? [written["const"]] : written["enum"];
  if (Array.isArray(values)) {
    walk.remaining -= values.length * WORD_COST;
    if (walk.remaining < 0) return ANY;
    return union(values.map(shapeOfConstant));
  }
  // Without a type, `properties` allows values that are no objects.
  return ANY;
}

function ofType(type: string, schema: JsonSchema, walk: Walk, depth: number): Shape {
  switch (type) {
    case "string":
      return STRING;
    case "number":
    case "integer":
      return NUMBER;
    case "boolean":
      return BOOLEAN;
    case "null":
      return { kind: "null" };
    case "array":
      return listOf(schema["prefixItems"] === undefined ? shapeOf(schema["items"], walk, depth - 1) : ANY);
    case "object":
      return ofObject(schema, walk, depth);
    default:
      return ANY;
  }
}

/** Keywords that say more about the fields of `properties`. */
const SUBSCHEMA_KEYWORDS = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
/** Keywords that allow fields besides those of `properties`, unless they are false. */
const OTHER_FIELD_KEYWORDS = ["additionalProperties", "patternProperties", "unevaluatedProperties"];

function ofObject(schema: JsonSchema, walk: Walk, depth: number): Shape {
  const { properties, additionalProperties: additional, required } = schema;
  if (SUBSCHEMA_KEYWORDS.some((word) => Object.hasOwn(schema, word))) return mapOf(ANY);
  const written = OTHER_FIELD_KEYWORDS.filter((word) => Object.hasOwn(schema, word));
  const allowsOthers = written.some((word) => schema[word] !== false);
  if (typeof properties !== "object" || properties === null) {
    const isUniform = typeof additional === "object" && written.length === 1;
    return mapOf(isUniform ? shapeOf(additional, walk, depth - 1) : ANY);
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  walk.remaining -= needed.size * WORD_COST;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]: [string, unknown]) => {
      const shape = shapeOf(field, walk, depth - 1);
      return [name, needed.has(name) || hasDefault(field) ? shape : nullable(shape)];
    }),
  );
  return allowsOthers || (walk.open && written.length === 0) ? openObjectOf(fields) : objectOf(fields);
}

/** Whether an absent field gets a default. A server may declare null as the default of a field that is not nullable. */
const hasDefault = (schema: unknown): boolean =>
  typeof schema === "object" &&
  schema !== null &&
  Object.hasOwn(schema, "default") &&
  (schema as JsonSchema)["default"] !== null;

/** Returns the shape of a value that has one of these shapes: theirs if they are alike apart from null. */
function union(shapes: readonly Shape[]): Shape {
  const notNull = shapes.filter((shape) => shape.kind !== "null");
  const first = notNull[0];
  if (first === undefined) return { kind: shapes.length === 0 ? "any" : "null" };
  const plain = ["string", "number", "boolean"].includes(first.kind);
  const areAlike = notNull.length === 1 || (plain && notNull.every((shape) => shape.kind === first.kind));
  if (!areAlike) return ANY;
  return notNull.length < shapes.length || notNull.some((shape) => shape.nullable) ? nullable(first) : first;
}
