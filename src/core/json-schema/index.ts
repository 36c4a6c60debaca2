/** JSON Schemas of a workflow's author: whether they can be used, what they say of a value, and checking one. */
export type { JsonSchema } from "./dialect.ts";
export { inputsValidator, type InputsValidator, valueIssues } from "./inputs-validator.ts";
export { schemaIssues } from "./schema-issues.ts";
export { shapeOfSchema } from "./shape-of-schema.ts";
