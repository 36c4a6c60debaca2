/** Checks the arguments of a tool or workflow against their JSON Schema before the step runs. */
import type { PartialIssue } from "../core/connections.ts";
import type { JsonSchema } from "../core/json-schema/index.ts";
import { templateIssues } from "../core/json-schema/index.ts";
import type { StepCheckContext, UnresolvedStep } from "../core/step-type.ts";

/**
 * Checks the arguments under `field` against a schema of an object, by value where it is known.
 * @returns issues with paths below the step; none if the schema has no properties or is itself invalid
 */
export function argumentIssues(
  field: string,
  schema: JsonSchema,
  step: UnresolvedStep,
  ctx: Pick<StepCheckContext, "shapeOf">,
): PartialIssue[] {
  if (schema["properties"] === undefined) return [];
  return templateIssues(schema, step[field] ?? {}, ctx.shapeOf(field)).map((issue) =>
    Object.assign({}, issue, { path: [field, ...(issue.path ?? [])] }),
  );
}
