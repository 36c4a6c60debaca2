/** What model vendors refuse in the schema of a tool, each with its source. One such tool makes them refuse the whole list. */

type Node = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Anthropic, Bedrock, Vertex AI: "Property keys should match pattern". */
const ANTHROPIC_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top level"; OpenAI adds enum, const and not. */
const REFUSED_AT_ROOT = ["oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"];
/** Keywords that the `Schema` of Gemini does not have, and that OpenAI refuses in strict mode. */
const REFUSED = [
  "$ref",
  "$defs",
  "allOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "const",
  "prefixItems",
  "contains",
  "patternProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "exclusiveMinimum",
];

/** Gemini: "only 'enum' and 'date-time' are supported for STRING type". OpenAI takes nine formats, without `uri` and `uri-reference`. */
const GEMINI_TEXT_FORMATS: ReadonlySet<unknown> = new Set(["enum", "date-time"]);
/** OpenAI compiles patterns as Python does, which has no classes of Unicode and no group `(?<name>)`, and takes no look-around. */
const PYTHON_TOO = /^(?:\[(?:\\[^pPQCz]|[^\]\\])*\]|\\[^pPQCzxu]|\\x[0-9a-f]{2}|\((?!\?[^:])|[^\\([])*$/is;

/** Returns what a vendor refuses in the schema of a tool, as `path: reason`. */
export function refusedByVendors(schema: unknown): string[] {
  if (!isObject(schema) || schema["type"] !== "object") return ["the root: must have the type object"];
  const root = REFUSED_AT_ROOT.filter((keyword) => keyword in schema).map(
    (keyword) => `the root: ${keyword}`,
  );
  return [...root, ...refusedIn(schema, "")];
}

function refusedIn(node: unknown, path: string): string[] {
  if (!isObject(node)) return [`${path}: must be an object`];
  const { type, properties, items, anyOf, enum: values, required, additionalProperties } = node;
  const { format, pattern } = node;
  const fields = isObject(properties) ? properties : {};
  const found = REFUSED.filter((keyword) => keyword in node);
  if (Array.isArray(type)) found.push("a list of types (Gemini)");
  if (type === undefined && anyOf === undefined) found.push("no type (Gemini on Vertex AI)");
  if (anyOf !== undefined && path !== "") {
    const beside = Object.keys(node).filter((keyword) => keyword !== "anyOf");
    found.push(...beside.map((keyword) => `${keyword} beside anyOf (Gemini on Vertex AI)`));
  }
  if (Array.isArray(anyOf) && anyOf.some(isObjectForm) && !anyOf.every(isObjectForm))
    found.push("an object among forms of other types (LangChain)");
  if (format !== undefined && (type !== "string" || !GEMINI_TEXT_FORMATS.has(format)))
    found.push(`the format ${JSON.stringify(format)} (Gemini, OpenAI)`);
  if (pattern !== undefined) found.push(...patternReasons(pattern as string));
  if (type === "array" && !isObject(items)) found.push("a list without items (OpenAI, VS Code, Gemini)");
  if (
    Array.isArray(values) &&
    (type !== "string" || values.some((value) => typeof value !== "string" || value === ""))
  )
    found.push("an allowed value that is no text, or empty (Gemini)");
  const names = Object.keys(fields);
  found.push(
    ...names.filter((name) => !ANTHROPIC_KEY.test(name)).map((name) => `the name ${name} (Anthropic)`),
  );
  if (Array.isArray(required))
    found.push(
      ...required
        .filter((name) => !Object.hasOwn(fields, String(name)))
        .map((name) => `${name} is required only (Gemini)`),
    );
  const inner = [
    ...Object.entries(fields).flatMap(([name, field]) => refusedIn(field, `${path}.${name}`)),
    ...(items === undefined ? [] : refusedIn(items, `${path}[]`)),
    ...(isObject(additionalProperties) ? refusedIn(additionalProperties, `${path}.*`) : []),
    ...(Array.isArray(anyOf) ? anyOf.flatMap((form, index) => refusedIn(form, `${path}|${index}`)) : []),
  ];
  return [...found.map((reason) => `${path}: ${reason}`), ...inner];
}

/** Of a list of forms `@langchain/mcp-adapters` keeps these alone, and then refuses arguments of the other forms. */
const isObjectForm = (form: unknown): boolean =>
  isObject(form) && (form["type"] === "object" || form["properties"] !== undefined);

/** Clients compile patterns as JavaScript does, with the flag `u` (ajv, @cfworker/json-schema) or without it (Zod). */
function patternReasons(pattern: string): string[] {
  const reasons = PYTHON_TOO.test(pattern) ? [] : [`the pattern ${pattern} (OpenAI)`];
  try {
    return [RegExp(pattern), RegExp(pattern, "u")].length > 0 ? reasons : [];
  } catch (error) {
    return [...reasons, `${(error as Error).message} (clients)`];
  }
}
