/** Compares the shape of a value with a JSON Schema. Only a certain mismatch is an issue; a value that may be null, a warning. */
import type { PartialIssue } from "../connections.ts";
import { isLongNumber } from "../../../schemas/long-numbers.ts";
import { unknownKey } from "../issues.ts";
import type { Shape } from "../shapes.ts";
import type { JsonSchema } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** Maximum number of levels that are compared. */
const MAX_DEPTH = 12;

type Kind = "string" | "number" | "boolean" | "list" | "object" | "null";

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  string: "text",
  number: "a number",
  boolean: "a boolean",
  list: "a list",
  object: "an object",
  null: "null",
};

const KIND_OF_TYPE: Readonly<Record<string, Kind>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  array: "list",
  object: "object",
  null: "null",
};

/**
 * @param schema part of `root`, whose references it may use
 * @returns issues with paths inside the value
 */
export const shapeIssues = (schema: JsonSchema, shape: Shape, root: JsonSchema): PartialIssue[] =>
  compare(schema, shape, root, 0);

function compare(schema: unknown, shape: Shape, root: JsonSchema, depth: number): PartialIssue[] {
  if (typeof schema !== "object" || schema === null || shape.kind === "any" || depth > MAX_DEPTH) return [];
  const written = schema as JsonSchema;
  const mismatch = wrongKind(written, shape.kind === "map" ? "object" : shape.kind, root);
  if (mismatch !== undefined) return [mismatch];
  if (shape.nullable === true) {
    const issues = compare(schema, { ...shape, nullable: false }, root, depth);
    const isRefused = wrongKind(written, "null", root) !== undefined;
    return isRefused && issues.every(({ severity }) => severity === "warning")
      ? [...issues, MAYBE_NULL]
      : issues;
  }
  const inner = [
    ...(typeof written["$ref"] === "string"
      ? compare(resolveRef(written["$ref"], root), shape, root, depth + 1)
      : []),
    ...(Array.isArray(written["allOf"])
      ? written["allOf"].flatMap((part) => compare(part, shape, root, depth + 1))
      : []),
  ];
  // A list may be empty, so nothing is certain of its items.
  if (shape.kind !== "object") return inner;
  const properties = (written["properties"] ?? {}) as JsonSchema;
  const required = new Set(Array.isArray(written["required"]) ? (written["required"] as unknown[]) : []);
  const names = Object.keys(shape.fields);
  return [
    ...inner,
    // An open object may have further fields.
    ...(shape.open === true ? [] : missingFields(written, names)),
    ...certainlyUnknown(written, shape.fields),
    ...names.flatMap((name) => {
      const field = shape.fields[name]!;
      // A field that is not required may be null.
      if (!Object.hasOwn(properties, name) || (field.kind === "null" && !required.has(name))) return [];
      const judged = required.has(name) ? field : { ...field, nullable: false };
      return below(name, compare(properties[name], judged, root, depth + 1));
    }),
  ];
}

const MAYBE_NULL: PartialIssue = {
  path: [],
  code: "maybe_null",
  message: "must not be null, but the expression may return null",
  fix: "Write a default inside it with ??.",
  severity: "warning",
};

const below = (path: PropertyKey, issues: readonly PartialIssue[]): PartialIssue[] =>
  issues.map((issue) => Object.assign({}, issue, { path: [path, ...(issue.path ?? [])] }));

/** The required fields that are absent and have no default. */
export function missingFields(schema: JsonSchema, names: readonly string[]): PartialIssue[] {
  const { required } = schema;
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(required)) return [];
  return (required as unknown[]).flatMap((name) => {
    if (typeof name !== "string" || names.includes(name)) return [];
    const property = (properties[name] ?? {}) as { default?: unknown; type?: unknown };
    if (property.default !== undefined) return [];
    const kind = KIND_OF_TYPE[String(property.type)];
    const fix = kind === undefined ? "Add it." : `Set it to ${KIND_NAMES[kind]}.`;
    return [{ path: [name], code: "missing", message: "is required", fix }];
  });
}

/** Fields that the value certainly has and the schema certainly refuses. */
function certainlyUnknown(schema: JsonSchema, fields: Readonly<Record<string, Shape>>): PartialIssue[] {
  const closed = schema["additionalProperties"] === false || schema["unevaluatedProperties"] === false;
  if (
    !closed ||
    ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"].some((word) => word in schema)
  )
    return [];
  const allowed = Object.keys(schema["properties"] ?? {});
  return Object.entries(fields)
    .filter(([name, { nullable }]) => !allowed.includes(name) && nullable !== true)
    .map(([name]) => Object.assign({}, unknownKey("", name, allowed), { path: [name] }));
}

/** The issue of a value of a kind that the schema does not accept; undefined if it may accept it. */
export function wrongKind(schema: JsonSchema, kind: Kind, root: JsonSchema): PartialIssue | undefined {
  const accepted = acceptedKinds(schema, root, 0);
  if (accepted === undefined || accepted.has(kind)) return undefined;
  const expected = [...accepted].map((name) => KIND_NAMES[name]).join(" or ");
  const fix = fixFor(accepted, kind);
  return {
    path: [],
    code: "wrong_type",
    message: `must be ${expected}, but the expression returns ${KIND_NAMES[kind]}`,
    ...(fix !== undefined && { fix }),
  };
}

function fixFor(accepted: ReadonlySet<Kind>, kind: Kind): string | undefined {
  if (kind === "null") return undefined;
  if (accepted.has("string")) return "Convert it with string(…) or to_json(…).";
  if (accepted.has("number") && kind === "string") return "Convert it with double(…).";
  if (accepted.has("list")) return "Write it as a list: [ … ].";
  return undefined;
}

/** The kinds of values that a schema accepts; undefined if that is not known. */
function acceptedKinds(schema: unknown, root: JsonSchema, depth: number): Set<Kind> | undefined {
  if (typeof schema !== "object" || schema === null || depth > MAX_DEPTH) return undefined;
  const written = schema as JsonSchema;
  const { type } = written;
  if (typeof type === "string" || Array.isArray(type)) {
    const kinds = [type].flat().map((name) => KIND_OF_TYPE[String(name)]);
    return kinds.includes(undefined) ? undefined : new Set(kinds as Kind[]);
  }
  const values = Object.hasOwn(written, "const") ? [written["const"]] : written["enum"];
  if (Array.isArray(values)) return new Set((values as unknown[]).flatMap(kindsOfValue));
  const forms = written["anyOf"] ?? written["oneOf"];
  if (Array.isArray(forms)) {
    const accepted = forms.map((form) => acceptedKinds(form, root, depth + 1));
    const known = accepted.filter((kinds) => kinds !== undefined);
    return known.length < accepted.length ? undefined : new Set(known.flatMap((kinds) => Array.from(kinds)));
  }
  if (typeof written["$ref"] === "string")
    return acceptedKinds(resolveRef(written["$ref"], root), root, depth + 1);
  return undefined;
}

function kindsOfValue(value: unknown): Kind[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["list"];
  // It equals a double of the same value.
  if (isLongNumber(value)) return ["string", "number"];
  return [typeof value as "string" | "number" | "boolean" | "object"];
}
