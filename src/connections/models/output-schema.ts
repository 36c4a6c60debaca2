/** A workflow's JSON Schema for a model's answer, and what of an answer does not fit it, in words for the model. */
import { StepError } from "../../core/step-errors.ts";
import { dotted } from "../../core/faults.ts";
import { type JsonSchema, schemaFaults, valueFaults } from "../../core/json-schema/index.ts";

/** So many faults help to repair an answer. */
const MAX_FAULTS = 20;

/**
 * The check of a JSON Schema.
 * @returns what tells the faults of a value, none when it fits; or why the schema can't be used
 */
export function schemaCheck(
  schema: JsonSchema,
): { faultsOf: (value: unknown) => string[] } | { unusable: string } {
  const [unusable] = schemaFaults(schema);
  if (unusable !== undefined) return { unusable: spoken(unusable, "") };
  return {
    faultsOf(value) {
      const faults = valueFaults(schema, value);
      // A matter of the schema, which the model can't mend.
      if (faults.some((fault) => fault.code === "too_slow")) throw tooSlow();
      return faults.slice(0, MAX_FAULTS).map((fault) => spoken(fault, "the whole"));
    },
  };
}

const tooSlow = (): StepError =>
  new StepError("model_invalid_output", "The answer takes too long to check against output_schema.", {
    fix: "Write output_schema more simply: fewer alternatives within alternatives.",
    transient: false,
  });

const spoken = (fault: { path?: PropertyKey[]; message: string }, whole: string): string =>
  `${dotted(fault.path ?? []) || whole} ${fault.message}`.trimStart().slice(0, 500);
