import type { PlannedAlert } from "../../schemas/review.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";

/** Within which time a definition must succeed, as plans show it: nothing where it does not say. */
export function plannedAlert(definition: Readonly<Record<string, unknown>>): { must_succeed?: PlannedAlert } {
  const expected = TOP_FIELDS.must_succeed.parse(definition["must_succeed"]);
  return expected === undefined ? {} : { must_succeed: { every: expected.every, mail: expected.mail ?? [] } };
}
