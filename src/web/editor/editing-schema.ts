/** The schema that completion goes by: the server's, with JSON Schema's own commonest words where a definition holds a schema. */
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

/** The workflow has these itself: only in a file do they stand in its definition. */
const OF_FILES = new Set(["id", "name", "description", "tags"]);

/** The schema of a definition as the API takes it, that knows these words in `inputs`, `form` and `output_schema`. */
export function editingSchema(schema: Schema): Schema {
  const { inputs, steps, ...rest } = schema.properties ?? {};
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !OF_FILES.has(name)));
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
