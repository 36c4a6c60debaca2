/** The schema for completion: the server's schema, with the common JSON Schema keywords where a definition contains a schema. */
import type { Schema } from "./schema.ts";

const SCHEMA_REF: Schema = { $ref: "#/$defs/JsonSchemaKeywords" };
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const FORMATS = ["date", "date-time", "time", "duration", "email", "uri", "uuid"];

const JSON_SCHEMA_KEYWORDS: Schema = {
  type: "object",
  properties: {
    type: { description: "Type of the value.", type: "string", enum: TYPES },
    description: { description: "Description of the value, shown in forms.", type: "string" },
    properties: { description: "Fields of the object.", type: "object", additionalProperties: SCHEMA_REF },
    required: { description: "Names of the required fields.", type: "array", items: { type: "string" } },
    additionalProperties: {
      description: "Whether fields other than those in `properties` are allowed.",
      type: "boolean",
    },
    items: { ...SCHEMA_REF, description: "Schema of each list item." },
    enum: { description: "Allowed values.", type: "array", items: {} },
    default: { description: "Default value." },
    format: { description: "Format of the string.", type: "string", enum: FORMATS },
    pattern: { description: "Regular expression (RE2) that the string must match.", type: "string" },
    minimum: { description: "Minimum value.", type: "number" },
    maximum: { description: "Maximum value.", type: "number" },
    minLength: { description: "Minimum length, in characters.", type: "integer" },
    maxLength: { description: "Maximum length, in characters.", type: "integer" },
    minItems: { description: "Minimum number of list items.", type: "integer" },
    maxItems: { description: "Maximum number of list items.", type: "integer" },
    title: { description: "Label of the field.", type: "string" },
  },
};

/** Fields that only a workflow file has: over the API they belong to the workflow, not to its definition. */
const FILE_ONLY_FIELDS = new Set(["id", "name", "description", "tags"]);

/** The schema of a definition as the API accepts it, with JSON Schema keywords in `inputs`, `form` and `output_schema`. */
export function editingSchema(schema: Schema): Schema {
  const { inputs, steps, ...rest } = schema.properties ?? {};
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !FILE_ONLY_FIELDS.has(name)));
  const variants = steps?.items?.oneOf?.map((variant) => ({
    ...variant,
    properties: {
      ...variant.properties,
      ...schemaField("form", variant.properties?.["form"]),
      ...schemaField("output_schema", variant.properties?.["output_schema"]),
    },
  }));
  return {
    ...schema,
    $defs: { ...schema.$defs, JsonSchemaKeywords: JSON_SCHEMA_KEYWORDS },
    properties: {
      ...schemaField("inputs", inputs),
      ...(steps !== undefined && { steps: { ...steps, ...(variants && { items: { oneOf: variants } }) } }),
      ...others,
    },
  };
}

function schemaField(name: string, field: Schema | undefined): Record<string, Schema> {
  if (field === undefined) return {};
  const { description, examples } = field;
  return {
    [name]: {
      ...SCHEMA_REF,
      ...(description !== undefined && { description }),
      ...(examples && { examples }),
    },
  };
}
