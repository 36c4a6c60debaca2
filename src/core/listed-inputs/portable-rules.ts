/** Chooses the rules of one value that vendors and clients take as they are, or in another form. */
import { portablePattern } from "./portable-pattern.ts";

type Node = Readonly<Record<string, unknown>>;

/** Types of the values that a rule is about. It says nothing of others, where Gemini may refuse it: a format of text for a number. */
const RULES: ReadonlyMap<string, string> = new Map([
  ["format", "string"],
  ["pattern", "string"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["minLength", "string"],
  ["maxLength", "string"],
  ["minItems", "array"],
  ["maxItems", "array"],
]);

/** Gemini: "only 'enum' and 'date-time' are supported for STRING type". */
const PORTABLE_FORMAT = "date-time";

export const isPortableFormat = (format: unknown): boolean => format === PORTABLE_FORMAT;

/** The type of a value, for the type that a schema has. */
export const valueType = (type: unknown): unknown => (type === "integer" ? "number" : type);

/**
 * @param type undefined for a value of any type, whose form has no place for rules of some types
 * @returns the rules to list, and those to describe in words
 */
export function portableRules(
  schema: Node,
  type: unknown,
): { listed: Record<string, unknown>; inWords: Record<string, unknown> } {
  const listed: Record<string, unknown> = {};
  const inWords: Record<string, unknown> = {};
  for (const [keyword, about] of RULES) {
    if (!Object.hasOwn(schema, keyword) || (type !== undefined && valueType(type) !== about)) continue;
    const value = type === undefined ? undefined : portable(keyword, schema[keyword]);
    if (value === undefined) inWords[keyword] = schema[keyword];
    else listed[keyword] = value;
  }
  return { listed, inWords };
}

function portable(keyword: string, value: unknown): unknown {
  if (keyword === "format") return isPortableFormat(value) ? value : undefined;
  return keyword === "pattern" ? portablePattern(value as string) : value;
}
