/** Brings the tools of a list into the form of the protocol, so that one broken tool does not take the others with it. */

type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The entries whose value is of a kind, as an object. */
const onlyTexts = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(
    names.flatMap((name) => (typeof fields[name] === "string" ? [[name, fields[name]]] : [])),
  );

/**
 * Returns the tools that have a name, with what Millrace uses of them. Of several with one name, the first counts. A schema of
 * arguments that is broken accepts all arguments, and one of results is left out: the server still checks the arguments itself.
 * @param isObjectRequired whether the results of tools must be objects, as before the revision of 2026
 */
export function repairTools(tools: readonly unknown[], isObjectRequired: boolean): Fields[] {
  const named = tools.filter((tool): tool is Fields => isObject(tool) && typeof tool["name"] === "string");
  const first = new Map(named.toReversed().map((tool) => [tool["name"], tool]));
  return named
    .filter((tool) => tool["name"] !== "" && first.get(tool["name"]) === tool)
    .map((tool) => repairTool(tool, isObjectRequired));
}

function repairTool(tool: Fields, isObjectRequired: boolean): Fields {
  const { inputSchema: input, outputSchema: output, annotations } = tool;
  return {
    ...onlyTexts(tool, ["name", "title", "description"]),
    inputSchema: objectSchema(isObject(input) ? repairSchema(input) : {}) ?? { type: "object" },
    ...(isObject(output) && outputOf(repairSchema(output), isObjectRequired)),
    ...(isObject(annotations) && { annotations: { readOnlyHint: annotations["readOnlyHint"] === true } }),
  };
}

function outputOf(schema: Fields, isObjectRequired: boolean): Fields {
  const output = isObjectRequired ? objectSchema(schema) : schema;
  return output === undefined ? {} : { outputSchema: output };
}

/** A schema of objects, which may not say so; undefined if it is one of something else. */
function objectSchema(schema: Fields): Fields | undefined {
  const { type = "object", properties, required, ...others } = schema;
  const types = [type].flat();
  if (!types.includes("object")) return undefined;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return {
    ...others,
    type: "object",
    ...(isObject(properties) && { properties }),
    ...(names.length > 0 && { required: names }),
  };
}

/** Keywords whose value is not a schema, so that a null in it stays. */
const VALUES: ReadonlySet<string> = new Set(["default", "const", "enum", "examples", "example"]);
/** Keywords with schemas by name. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

/** Leaves the keywords out that are null, in a schema and in those inside of it. */
function repairSchema(schema: Fields): Fields {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (VALUES.has(key)) return [[key, value]];
      if (value === null) return [];
      if (!NAMED.has(key) || !isObject(value)) return [[key, repairInside(value)]];
      // A field that is null instead of a schema may have any value.
      const named = Object.entries(value).map(([name, inner]) => [name, repairInside(inner ?? {})]);
      return [[key, Object.fromEntries(named)]];
    }),
  );
}

const repairInside = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(repairInside);
  return isObject(value) ? repairSchema(value) : value;
};
