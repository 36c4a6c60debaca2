/**
 * Validates values against a schema of a workflow, and completes them: inputs, and any other value that enters a run. Null
 * stands for an absent field. Both can take long: `Validation` says where they run.
 */
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import type { PartialIssue } from "../connections.ts";
import { CompletedTooLarge, completeValue, withoutAbsentFields } from "./complete-value.ts";
import { type JsonSchema, newAjv, type Validator } from "./dialect.ts";
import { describeErrors } from "./errors.ts";
import { acceptLongNumbers, containsLongNumber } from "./long-numbers.ts";
import { memoize } from "./memoize.ts";
import { MAX_VISITED_IN_THREAD, readWritten } from "./read-written.ts";
import { UNKNOWN_FIELD_KEYWORDS } from "./schema-at.ts";
import { schemaIssues } from "./schema-issues.ts";
import { exceedsJsonSize } from "./json-size.ts";

/** Maximum size of a value with its defaults and absent fields filled in, in characters of JSON. */
const MAX_COMPLETED_CHARS = 4 * 1024 * 1024;
/** Size from which only the first error of a value is reported, in characters of JSON. */
const ALL_ERRORS_BELOW = 64 * 1024;

type Parsed<T> = { value: T } | { issues: PartialIssue[] };

export interface InputsValidator {
  /**
   * Validates the inputs of a run (JSON). Returns a completed copy; the paths of issues are below the inputs.
   * @param asWritten whether they are as a model wrote them (`readWritten`)
   */
  parse(inputs: unknown, asWritten?: boolean): Parsed<Record<string, unknown>>;
}

/**
 * @param schema the `inputs` of a definition; null if it has none, so that no input is accepted
 * @returns a validator; if the schema itself has issues, it returns those, with paths inside the schema
 */
export const inputsValidator = (schema: JsonSchema | null): InputsValidator => {
  const validator = inputsOf(schema ?? { type: "object" });
  return {
    parse: (inputs, asWritten = false) =>
      validator.parse(inputs ?? {}, asWritten) as Parsed<Record<string, unknown>>,
  };
};

/**
 * Validates a value of any type (JSON). Unknown fields are issues only if the schema forbids them.
 * @returns the completed value (`completeValue`), or its issues
 */
export const parseValue = (schema: JsonSchema, value: unknown): Parsed<unknown> =>
  valuesOf(schema).parse(value);

/**
 * Validates a value of any type, as `parseValue`.
 * @returns the issues; none if the value is valid
 */
export function valueIssues(schema: JsonSchema, value: unknown): PartialIssue[] {
  const parsed = parseValue(schema, value);
  return "issues" in parsed ? parsed.issues : [];
}

const inputsOf = memoize((schema) => {
  const decides = UNKNOWN_FIELD_KEYWORDS.some((word) => Object.hasOwn(schema, word));
  return validatorOf(schema, decides ? schema : { ...schema, unevaluatedProperties: false });
});

const valuesOf = memoize((schema) => validatorOf(schema, schema));

/** @param schema the schema to validate against; `written` is the one that the author sees */
function validatorOf(written: JsonSchema, schema: JsonSchema) {
  const issues = schemaIssues(written);
  if (issues.length > 0) return { parse: (): Parsed<unknown> => ({ issues }) };
  const validators = new Map<string, Validator>();
  const hasLongNumbers = containsLongNumber(schema);
  const validatorFor = (value: unknown, allErrors: boolean): Validator => {
    // A default may be one.
    const longNumbers = hasLongNumbers || containsLongNumber(value);
    const key = `${allErrors} ${longNumbers}`;
    const known = validators.get(key);
    if (known !== undefined) return known;
    const ajv = newAjv({ useDefaults: true, allErrors });
    const validator = ajv.compile(longNumbers ? acceptLongNumbers(ajv, schema) : schema);
    validators.set(key, validator);
    return validator;
  };
  return {
    parse(value: unknown, asWritten = false): Parsed<unknown> {
      if (!asWritten) return parse(written, validatorFor, value);
      const read = readWritten(written, value, { maxVisited: MAX_VISITED_IN_THREAD });
      const parsed = parse(written, validatorFor, read.value);
      return read.issues.length === 0
        ? parsed
        : { issues: [...read.issues, ...("issues" in parsed ? parsed.issues : [])] };
    },
  };
}

function parse(
  schema: JsonSchema,
  validatorFor: (value: unknown, allErrors: boolean) => Validator,
  input: unknown,
): Parsed<unknown> {
  if (exceedsDepth(input, MAX_JSON_DEPTH))
    return issue("too_deep", `must not be nested deeper than ${MAX_JSON_DEPTH} levels`);
  const text = JSON.stringify(input ?? null);
  const validate = validatorFor(input, text.length < ALL_ERRORS_BELOW);
  let value: unknown;
  try {
    value = withoutAbsentFields(schema, JSON.parse(text));
    if (validate(value)) {
      const maxChars = Math.max(text.length, MAX_COMPLETED_CHARS);
      // The validator has filled defaults in already, and every absent field becomes null.
      if (exceedsJsonSize(value, maxChars)) return tooLarge();
      const completed = completeValue(schema, value, maxChars);
      return exceedsJsonSize(completed, maxChars) ? tooLarge() : { value: completed };
    }
  } catch (error) {
    if (error instanceof CompletedTooLarge) return tooLarge();
    return issue("invalid", `could not be validated against its schema: ${(error as Error).message}`);
  }
  return { issues: describeErrors(validate.errors ?? [], value) };
}

const tooLarge = (): Parsed<unknown> =>
  issue(
    "too_large",
    `would have more than ${MAX_COMPLETED_CHARS / 1024 / 1024} MiB with the fields that it leaves out, so send fewer items`,
  );

const issue = (code: string, message: string): Parsed<unknown> => ({
  issues: [{ path: [], code, message }],
});
