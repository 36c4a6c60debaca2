import type { PlannedTrigger } from "../../schemas/review.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";

/** The webhooks that start a version once it is published, for a plan; nothing without any. */
export function plannedTriggers(definition: Readonly<Record<string, unknown>>): {
  triggers?: PlannedTrigger[];
} {
  const triggers = TOP_FIELDS.triggers.parse(definition["triggers"]) ?? [];
  if (triggers.length === 0) return {};
  return {
    triggers: triggers.map(({ id, signature, if: condition }) => {
      const planned: PlannedTrigger = { id, signature: signature?.scheme ?? null };
      return condition === undefined ? planned : Object.assign(planned, { if: String(condition) });
    }),
  };
}
