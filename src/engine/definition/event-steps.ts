/** The steps of a definition that wait for an event, each with a URL of its own. */
import type { Signature } from "../../../schemas/signature.ts";
import type { JsonSchema } from "../../core/json-schema/index.ts";

type StepFields = Readonly<Record<string, unknown>>;

/** The schema of the event that a step waits for, `{}` if it accepts any; undefined for any other step. */
export function eventSchema(step: StepFields): JsonSchema | undefined {
  const { type, event } = step;
  if (type !== "wait" || typeof event !== "object" || event === null || Array.isArray(event))
    return undefined;
  const { schema } = event as { schema?: unknown };
  return typeof schema === "object" && schema !== null ? (schema as JsonSchema) : {};
}

/** The signature that the event of a step must have; undefined for none. @param step one that its schema accepts */
export const eventSignature = (step: StepFields): Signature | undefined =>
  (step["event"] as { signature?: Signature } | undefined)?.signature;

/** The condition that the event of a step must match; undefined for none. */
export const eventMatch = (step: StepFields): string | boolean | undefined => {
  const { event } = step;
  const match =
    typeof event === "object" && event !== null ? (event as { match?: unknown }).match : undefined;
  return typeof match === "string" || typeof match === "boolean" ? match : undefined;
};

/** The ids of the steps that wait for an event. */
export const eventStepIds = (steps: readonly StepFields[]): string[] =>
  steps.flatMap((step) =>
    eventSchema(step) !== undefined && typeof step["id"] === "string" ? [step["id"]] : [],
  );
