/** The schema for completion: the server's schema, with the common JSON Schema keywords where a definition contains a schema. */
import * as texts from "#texts/editor";
import type { Schema } from "./schema.ts";

const SCHEMA_REF: Schema = { $ref: "#/$defs/JsonSchemaKeywords" };
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const FORMATS = ["date", "date-time", "time", "duration", "email", "uri", "uuid"];

const JSON_SCHEMA_KEYWORDS: Schema = {
  type: "object",
  properties: {
    type: { description: texts.schemaType, type: "string", enum: TYPES },
    description: { description: texts.schemaDescription, type: "string" },
    properties: { description: texts.schemaProperties, type: "object", additionalProperties: SCHEMA_REF },
    required: { description: texts.schemaRequired, type: "array", items: { type: "string" } },
    additionalProperties: {
      description: texts.schemaAdditional,
      type: "boolean",
    },
    items: { ...SCHEMA_REF, description: texts.schemaItems },
    enum: { description: texts.schemaEnum, type: "array", items: {} },
    default: { description: texts.schemaDefault },
    format: { description: texts.schemaFormat, type: "string", enum: FORMATS },
    pattern: { description: texts.schemaPattern, type: "string" },
    minimum: { description: texts.schemaMinimum, type: "number" },
    maximum: { description: texts.schemaMaximum, type: "number" },
    minLength: { description: texts.schemaMinLength, type: "integer" },
    maxLength: { description: texts.schemaMaxLength, type: "integer" },
    minItems: { description: texts.schemaMinItems, type: "integer" },
    maxItems: { description: texts.schemaMaxItems, type: "integer" },
    title: { description: texts.schemaTitle, type: "string" },
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
