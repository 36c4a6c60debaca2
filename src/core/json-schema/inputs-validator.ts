/** Validates values against a schema of a workflow's author: inputs, with defaults filled in, and any other value. */
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import type { PartialIssue } from "../connections.ts";
import { type JsonSchema, newAjv, type Validator } from "./dialect.ts";
import { describeErrors } from "./errors.ts";
import { memoize } from "./memoize.ts";
import { schemaIssues } from "./schema-issues.ts";
import { isTimeout, runWithTimeout } from "./run-with-timeout.ts";

const VALIDATE_MS = 1_000;
/** Of larger values only the first fault is told: a fault for each of a million items would help nobody. */
const TELL_ALL_BELOW = 64 * 1024;

type Parsed<T> = { value: T } | { issues: PartialIssue[] };

export interface InputsValidator {
  /** Takes the inputs of a run (JSON). The value is a copy with defaults; paths are below the inputs. */
  parse(inputs: unknown): Parsed<Record<string, unknown>>;
}

/**
 * @param schema the `inputs` of a definition; null where it has none, and takes none
 * @returns the validator; of a schema with faults one that gives those, with the path of the schema's own place
 */
export const inputsValidator = (schema: JsonSchema | null): InputsValidator => {
  const validator = inputsOf(schema ?? { type: "object" });
  return { parse: (inputs) => validator.parse(inputs ?? {}) as Parsed<Record<string, unknown>> };
};

/**
 * What does not fit a schema in a value of any kind; unknown names are refused only where the schema says so.
 * @returns no faults when it fits
 */
export function valueIssues(schema: JsonSchema, value: unknown): PartialIssue[] {
  const parsed = valuesOf(schema).parse(value);
  return "issues" in parsed ? parsed.issues : [];
}

/** Keywords with which a schema says itself what other names are. */
const SAYS_OTHERS = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

const inputsOf = memoize((schema) => {
  const open = SAYS_OTHERS.some((word) => Object.hasOwn(schema, word));
  return validatorOf(schema, open ? schema : { ...schema, unevaluatedProperties: false }, true);
});

const valuesOf = memoize((schema) => validatorOf(schema, schema, false));

function validatorOf(written: JsonSchema, schema: JsonSchema, useDefaults: boolean) {
  const issues = schemaIssues(written);
  if (issues.length > 0) return { parse: (): Parsed<unknown> => ({ issues }) };
  const validators = new Map<boolean, Validator>();
  const validatorFor = (allErrors: boolean): Validator => {
    const made = validators.get(allErrors) ?? newAjv({ useDefaults, allErrors }).compile(schema);
    validators.set(allErrors, made);
    return made;
  };
  return { parse: (value: unknown) => parse(validatorFor, value) };
}

function parse(validatorFor: (all: boolean) => Validator, given: unknown): Parsed<unknown> {
  if (exceedsDepth(given, MAX_JSON_DEPTH))
    return issue("too_deep", `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  const text = JSON.stringify(given ?? null);
  const value: unknown = JSON.parse(text);
  const validate = validatorFor(text.length < TELL_ALL_BELOW);
  try {
    if (runWithTimeout(VALIDATE_MS, () => validate(value))) return { value };
  } catch (error) {
    return isTimeout(error)
      ? issue("too_slow", `takes longer than ${VALIDATE_MS} ms to check against its schema: make it smaller`)
      : issue("invalid", `can't be checked against its schema: ${(error as Error).message}`);
  }
  return { issues: describeErrors(validate.errors ?? [], value) };
}

const issue = (code: string, message: string): Parsed<unknown> => ({
  issues: [{ path: [], code, message }],
});
