/** The inputs of a workflow as agents get them, when it is a tool of its own. */
export { inputChanges } from "./changes.ts";
export { readByNames } from "./read-by-names.ts";
export { type ListedInputs, listInputs } from "./list-inputs.ts";
