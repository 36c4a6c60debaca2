/** JSON Schemas that workflows contain: checks them, derives shapes from them, and validates values against them. */
export { listsNoTextAt } from "./allowed-values.ts";
export { CompletedTooLarge, completeValue, withDeclaredLists } from "./complete-value.ts";
export type { JsonSchema } from "./dialect.ts";
export { inputsValidator, type InputsValidator, parseValue, valueIssues } from "./inputs-validator.ts";
export { containsLongNumber } from "./long-numbers.ts";
export { exceedsJsonSize } from "./json-size.ts";
export { publishedSchema } from "./published-schema.ts";
export { MAX_VISITED_IN_THREAD, type ReadValue, readWritten } from "./read-written.ts";
export { schemaIssues } from "./schema-issues.ts";
export { schemaOfValue } from "./schema-of-value.ts";
export { shapeOfReturnedValue, shapeOfSchema } from "./shape-of-schema.ts";
export { shapeIssues } from "./shape-issues.ts";
export { templateIssues, templateValueIssues } from "./template-issues.ts";
