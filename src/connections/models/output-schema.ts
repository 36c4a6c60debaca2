/** A workflow's JSON Schema for a model's answer, and what of an answer does not fit it. */
import { createContext, Script } from "node:vm";
import { type ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RE2JS } from "re2js";
import { StepError } from "../../core/step-errors.ts";
import { isDeeperThan, MAX_JSON_DEPTH } from "../../../schemas/text.ts";

const MAX_SCHEMA_BYTES = 64 * 1024;
/** A schema can be written so that it takes for ever, with a small answer too. */
const MAX_MS = 1_000;
/** Above it only the first fault is looked for: each may cost more than what it is about. */
const ALL_FAULTS_BYTES = 64 * 1024;
const MAX_FAULTS = 20;

export type Schema = Readonly<Record<string, unknown>>;

/**
 * The check of a JSON Schema (draft 2020-12), with regular expressions in linear time (RE2).
 * @returns what tells the faults of a value, none when it fits; or why the schema can't be used
 */
export function schemaCheck(
  schema: Schema,
): { faultsOf: (value: unknown) => string[] } | { unusable: string } {
  if (isDeeperThan(schema, MAX_JSON_DEPTH))
    return { unusable: `is nested deeper than ${MAX_JSON_DEPTH} levels` };
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MAX_SCHEMA_BYTES)
    return { unusable: `is ${bytes} bytes; at most ${MAX_SCHEMA_BYTES} can be used` };
  // With $async a check would be a promise, which is never false.
  if ("$async" in schema) return { unusable: "has $async, which is not JSON Schema" };
  try {
    // Compiled now, so that it is told before the model is asked; the other way when an answer needs it.
    const everyFault = compiled(schema, true);
    return {
      faultsOf(value) {
        const isSmall = JSON.stringify(value).length <= ALL_FAULTS_BYTES;
        try {
          return (isSmall ? everyFault : compiled(schema, false))(value);
        } catch (error) {
          throw new StepError(
            "model_invalid_output",
            "The answer can't be checked against output_schema in a second.",
            {
              fix: "Write output_schema more simply: fewer alternatives within alternatives.",
              transient: false,
              cause: error,
            },
          );
        }
      },
    };
  } catch (error) {
    return { unusable: `is not a JSON Schema that can be used: ${(error as Error).message.slice(0, 500)}` };
  }
}

function compiled(schema: Schema, allErrors: boolean): (value: unknown) => string[] {
  // strict would refuse keywords that say nothing about validity, such as example.
  const ajv = new Ajv2020({ allErrors, strict: false, logger: false, code: { regExp } });
  addFormats.default(ajv);
  // An older $schema names a dialect that is not loaded; what people write in practice is the same in both.
  const { $schema: _, ...plain } = schema;
  const validate = bounded(() => ajv.compile(plain));
  return (value) =>
    bounded(() => validate(value))
      ? []
      : (validate.errors ?? []).slice(0, MAX_FAULTS).map((error) => spoken(error));
}

const regExp = Object.assign(
  (pattern: string) => {
    const compiledPattern = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return {
      test: (text: string) => compiledPattern.matcher(text).find(),
      // Ajv tells patterns apart by it: without it the first one would stand for all.
      toString: () => pattern,
    };
  },
  // For generated source only, which nobody asks for.
  { code: "regExp" },
);

/** Runs `work` for so long and no longer: nothing else stops a loop in one's own thread. */
function bounded<T>(work: () => T): T {
  return CALL.runInContext(createContext({ work }), { timeout: MAX_MS }) as T;
}
const CALL = new Script("work()");

function spoken({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = instancePath === "" ? "the whole" : instancePath;
  const more =
    keyword === "additionalProperties"
      ? `: ${String(params["additionalProperty"])}`
      : keyword === "enum"
        ? `: ${JSON.stringify(params["allowedValues"]).slice(0, 200)}`
        : "";
  return `${place} ${message ?? keyword}${more}`.slice(0, 500);
}
