/** JSON Schema's own commonest words, for the places of a definition that hold a schema: its inputs above all. */
import type { Schema } from "./schema.ts";

const REF: Schema = { $ref: "#/$defs/JsonSchemaWords" };
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const FORMATS = ["date", "date-time", "time", "duration", "email", "uri", "uuid"];

const WORDS: Schema = {
  type: "object",
  properties: {
    type: { description: "What kind of value it is.", type: "string", enum: TYPES },
    description: { description: "What it is, for those who give it.", type: "string" },
    properties: { description: "The fields of an object.", type: "object", additionalProperties: REF },
    required: { description: "The fields that must be there.", type: "array", items: { type: "string" } },
    additionalProperties: { description: "Whether fields without a name here are allowed.", type: "boolean" },
    items: { ...REF, description: "What each item of a list is." },
    enum: { description: "The only values that are allowed.", type: "array", items: {} },
    default: { description: "What it is when it is left out." },
    format: { description: "What a text stands for.", type: "string", enum: FORMATS },
    pattern: { description: "A regular expression (RE2) that a text must match.", type: "string" },
    minimum: { description: "The least number.", type: "number" },
    maximum: { description: "The greatest number.", type: "number" },
    minLength: { description: "The fewest characters.", type: "integer" },
    maxLength: { description: "The most characters.", type: "integer" },
    minItems: { description: "The fewest items of a list.", type: "integer" },
    maxItems: { description: "The most items of a list.", type: "integer" },
    title: { description: "A short name for people.", type: "string" },
  },
};

/** The schema of a definition, that knows these words in `inputs`, `form` and `output_schema`. */
export function withSchemaWords(schema: Schema): Schema {
  const { inputs, steps, ...others } = schema.properties ?? {};
  const forms = steps?.items?.oneOf?.map((form) => ({
    ...form,
    properties: {
      ...form.properties,
      ...holding("form", form.properties?.["form"]),
      ...holding("output_schema", form.properties?.["output_schema"]),
    },
  }));
  return {
    ...schema,
    $defs: { ...schema.$defs, JsonSchemaWords: WORDS },
    properties: {
      ...holding("inputs", inputs),
      ...(steps !== undefined && { steps: { ...steps, ...(forms && { items: { oneOf: forms } }) } }),
      ...others,
    },
  };
}

function holding(name: string, field: Schema | undefined): Record<string, Schema> {
  if (field === undefined) return {};
  const { description, examples } = field;
  return {
    [name]: { ...REF, ...(description !== undefined && { description }), ...(examples && { examples }) },
  };
}
