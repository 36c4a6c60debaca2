/** References inside one schema (`#`, `#/$defs/name`). No others are followed. */
import type { JsonSchema } from "./dialect.ts";

/** Splits a JSON pointer in a fragment (RFC 6901, section 6); returns undefined for any other reference. */
export function pointerParts(ref: string): string[] | undefined {
  if (ref === "#") return [];
  if (!ref.startsWith("#/")) return undefined;
  try {
    return ref
      .slice(2)
      .split("/")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  } catch {
    return undefined;
  }
}

/** Writes a key as a part of such a pointer. */
export const pointerPart = (part: PropertyKey): string =>
  encodeURIComponent(String(part).replaceAll("~", "~0").replaceAll("/", "~1"));

/** Returns the schema that a reference points at; undefined if there is none. */
export function resolveRef(ref: string, root: JsonSchema): JsonSchema | boolean | undefined {
  let target: unknown = root;
  for (const part of pointerParts(ref) ?? ["", ""]) {
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, part)) return undefined;
    target = (target as Record<string, unknown>)[part];
  }
  const isSchema =
    typeof target === "boolean" || (typeof target === "object" && target !== null && !Array.isArray(target));
  return isSchema ? (target as JsonSchema | boolean) : undefined;
}
