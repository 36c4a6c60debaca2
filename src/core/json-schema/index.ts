/** JSON Schemas of a workflow's author: whether they can be used, what they say of a value, and checking one. */
export type { JsonSchema } from "./dialect.ts";
export { inputsValidator, type InputsValidator, valueFaults } from "./inputs-validator.ts";
export { schemaFaults } from "./schema-faults.ts";
export { shapeOfSchema } from "./shape-of-schema.ts";
