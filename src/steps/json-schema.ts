/** The one place where steps look at JSON Schemas from. */
export { inputsValidator, schemaFaults, shapeOfSchema } from "../engine/json-schema/index.ts";
