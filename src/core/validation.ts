/** Validates values by the schemas of workflows. A schema or a value of a caller can make that expensive. */
import type { CallContext, PartialIssue } from "./connections.ts";
import {
  inputsValidator,
  type JsonSchema,
  MAX_VISITED_IN_THREAD,
  parseValue,
  type ReadValue,
  readWritten,
} from "./json-schema/index.ts";
import { type StateDeclaration, stateIssues } from "./workflow-state.ts";

/** A value with its defaults and absent fields filled in, or its issues with paths inside the value. */
export type Validated<T> = { value: T } | { issues: PartialIssue[] };

/** Who caused it: owners take turns when it takes long. */
type ValidationOptions = Partial<CallContext>;

/** In a process with threads, every method throws AppError busy when the machine is too busy to validate the value. */
export interface Validation {
  /**
   * Validates the inputs of a run, or another form; null stands for a schema without fields (`inputsValidator`).
   * @param options.asWritten whether they are as a model wrote them
   */
  parseInputs(
    schema: JsonSchema | null,
    inputs: unknown,
    options?: ValidationOptions & { asWritten?: boolean },
  ): Promise<Validated<Record<string, unknown>>>;
  /**
   * Reads the inputs of a run as a model wrote them (`readWritten`).
   * @param otherNames names that stand for fields of the schema
   * @param options.keepsAllowed whether such a name stays where the schema allows an undeclared field of this name
   */
  readInputs(
    schema: JsonSchema,
    inputs: unknown,
    otherNames: ReadonlyMap<string, string>,
    options?: ValidationOptions & { keepsAllowed?: boolean },
  ): Promise<ReadValue>;
  /** Validates a value of any type (`parseValue`). */
  parseValue(schema: JsonSchema, value: unknown, options?: ValidationOptions): Promise<Validated<unknown>>;
  /** Checks values of a workflow's state (`stateIssues`). */
  stateIssues(
    declaration: StateDeclaration,
    values: Readonly<Record<string, unknown>>,
    options?: ValidationOptions,
  ): Promise<PartialIssue[]>;
}

/** Validates on the calling thread. */
export const inlineValidation: Validation = {
  parseInputs: async (schema, inputs, { asWritten = false } = {}) =>
    inputsValidator(schema).parse(inputs, asWritten),
  readInputs: async (schema, inputs, otherNames, { keepsAllowed = false } = {}) =>
    readWritten(schema, inputs, { otherNames, keepsAllowed, maxVisited: MAX_VISITED_IN_THREAD }),
  parseValue: async (schema, value) => parseValue(schema, value),
  stateIssues: async (declaration, values) => stateIssues(declaration, values),
};
