/** Finds the values that a schema lists as allowed ones or as examples. */
import { KEYWORDS } from "./dialect.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Whether a path leads to a value of `enum`, `const` or `examples` of a schema whose `type` is not text.
 * @param schema any value: what is not a schema lists nothing
 */
export function listsNoTextAt(schema: unknown, path: readonly PropertyKey[]): boolean {
  let inner = schema;
  let at = 0;
  while (isObject(inner) && at < path.length) {
    const keyword = String(path[at]);
    const { type } = inner;
    if (keyword === "const" || keyword === "enum" || keyword === "examples") {
      const isListed = path.length === at + (keyword === "const" ? 1 : 2);
      return isListed && type !== undefined && ![type].flat().includes("string");
    }
    switch (KEYWORDS.get(keyword)) {
      case "schema":
        inner = inner[keyword];
        at += 1;
        break;
      case "schemas":
      case "named":
        inner = (inner[keyword] as Readonly<Record<PropertyKey, unknown>> | null)?.[path[at + 1] ?? ""];
        at += 2;
        break;
      case "value":
      case undefined:
        return false;
    }
  }
  return false;
}
