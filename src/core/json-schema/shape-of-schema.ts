/** What a JSON Schema says of a value, in the words of the checker. */
import { ANY, BOOLEAN, listOf, mapOf, NUMBER, nullable, objectOf, type Shape, STRING } from "../shapes.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** A schema that refers to itself is followed so far. */
const DEEPEST = 8;

/**
 * Objects with `properties` are taken to have these fields and no other, unless the schema says of which type others
 * are. A field that is neither required nor has a default may be null.
 */
export function shapeOfSchema(schema: unknown): Shape {
  return shapeOf(schema, schema as JsonSchema, DEEPEST);
}

function shapeOf(schema: unknown, root: JsonSchema, depth: number): Shape {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema) || depth === 0) return ANY;
  const written = schema as JsonSchema;
  const { $ref, type } = written;
  if (typeof $ref === "string") return shapeOf(resolveRef($ref, root), root, depth - 1);
  if (Array.isArray(type)) return union(type.map((it) => ofType(String(it), written, root, depth)));
  if (typeof type === "string") return ofType(type, written, root, depth);
  const forms = written["anyOf"] ?? written["oneOf"];
  if (Array.isArray(forms)) return union(forms.map((it) => shapeOf(it, root, depth - 1)));
  const values = Object.hasOwn(written, "const") ? [written["const"]] : written["enum"];
  if (Array.isArray(values)) return union(values.map(ofValue));
  return typeof written["properties"] === "object" ? ofType("object", written, root, depth) : ANY;
}

function ofType(type: string, schema: JsonSchema, root: JsonSchema, depth: number): Shape {
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
      return listOf(schema["prefixItems"] === undefined ? shapeOf(schema["items"], root, depth - 1) : ANY);
    case "object":
      return ofObject(schema, root, depth);
    default:
      return ANY;
  }
}

/** Words with which a schema gives fields elsewhere than under `properties`. */
const OTHERS = [
  "patternProperties",
  "allOf",
  "anyOf",
  "oneOf",
  "if",
  "dependentSchemas",
  "unevaluatedProperties",
];

function ofObject(schema: JsonSchema, root: JsonSchema, depth: number): Shape {
  const { properties, additionalProperties: others, required } = schema;
  if (OTHERS.some((word) => Object.hasOwn(schema, word) && schema[word] !== false)) return mapOf(ANY);
  if (typeof properties !== "object" || properties === null)
    return mapOf(typeof others === "object" ? shapeOf(others, root, depth - 1) : ANY);
  if (others !== undefined && others !== false) return mapOf(ANY);
  const needed = new Set(Array.isArray(required) ? required : []);
  return objectOf(
    Object.fromEntries(
      Object.entries(properties).map(([name, it]: [string, unknown]) => {
        const shape = shapeOf(it, root, depth - 1);
        return [name, needed.has(name) || hasDefault(it) ? shape : nullable(shape)];
      }),
    ),
  );
}

const hasDefault = (schema: unknown): boolean =>
  typeof schema === "object" && schema !== null && Object.hasOwn(schema, "default");

/** What is known of a value that is one of these: their kind if it is the same, with null apart. */
export function union(shapes: readonly Shape[]): Shape {
  const others = shapes.filter((shape) => shape.kind !== "null");
  const first = others[0];
  if (first === undefined) return { kind: shapes.length === 0 ? "any" : "null" };
  const plain = ["string", "number", "boolean"].includes(first.kind);
  const same = others.length === 1 || (plain && others.every((shape) => shape.kind === first.kind));
  if (!same) return ANY;
  return others.length < shapes.length || others.some((shape) => shape.nullable) ? nullable(first) : first;
}

/** The shape of a value that is known. */
export function ofValue(value: unknown): Shape {
  switch (typeof value) {
    case "string":
      return STRING;
    case "number":
      return NUMBER;
    case "boolean":
      return BOOLEAN;
    default:
      return value === null ? { kind: "null" } : ANY;
  }
}
