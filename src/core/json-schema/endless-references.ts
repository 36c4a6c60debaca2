/** Finds references that lead back to their own place without going into the value. */
import type { PartialIssue } from "../connections.ts";
import { type JsonSchema, KEYWORDS } from "./dialect.ts";
import { resolveRef } from "./references.ts";

/** The keywords whose schemas apply to the value itself, not to a part of it (JSON Schema Core, section 10.2). */
const IN_PLACE = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"]);

type Path = PropertyKey[];

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns an issue for each reference that closes such a circle: validating a value by it never ends (JSON Schema Core,
 * section 9.4.1). A reference from a property or an item is fine, because every value ends somewhere.
 *
 * @param schemas all schemas of `root`, with their paths, without other issues
 */
export function endlessReferences(
  root: JsonSchema,
  schemas: readonly { schema: JsonSchema; path: Path }[],
): PartialIssue[] {
  return schemas.flatMap(({ schema, path }) => {
    const ref = schema["$ref"];
    if (typeof ref !== "string" || !leadsTo(resolveRef(ref, root), schema, root)) return [];
    return [
      {
        path: [...path, "$ref"],
        code: "cycle",
        message: "must not lead back to itself without a property or an item between",
        fix: "Refer to it from properties or items, or remove it.",
      },
    ];
  });
}

/** Whether validating a value by `from` validates the same value by `target`. */
function leadsTo(
  from: unknown,
  target: JsonSchema,
  root: JsonSchema,
  visited = new Set<JsonSchema>(),
): boolean {
  if (!isObject(from)) return false;
  if (from === target) return true;
  if (visited.has(from)) return false;
  visited.add(from);
  return inPlace(from, root).some((next) => leadsTo(next, target, root, visited));
}

function inPlace(schema: JsonSchema, root: JsonSchema): unknown[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "$ref") return typeof value === "string" ? [resolveRef(value, root)] : [];
    if (!IN_PLACE.has(key)) return [];
    if (KEYWORDS.get(key) === "schema") return [value];
    return Object.values(value ?? {}) as unknown[];
  });
}
