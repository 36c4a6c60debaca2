/** Checks the expressions of one step and derives the shapes of its fields. */
import type { PartialIssue } from "../../../core/connections.ts";
import { schemaIssues, shapeOfSchema } from "../../../core/json-schema/index.ts";
import { ANY, objectOf, type Shape, STRING } from "../../../core/shapes.ts";
import type { Field } from "../../../core/step-type.ts";
import { checkCel, checkValueAsync, factsOfCondition, withFacts } from "../expressions/index.ts";
import { eventMatch, eventSchema } from "../event-steps.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { loopScope, repeatIssues } from "./repeat-shapes.ts";
import { fieldIssues } from "./shape-fit.ts";
import { conditionTypeIssues, withTypeIssues, wrongType } from "./type-issues.ts";
import type { ParsedStep } from "./schema-check.ts";
import { prefixPath, type LocatedIssue } from "./check-report.ts";
import { INDEX_SHAPE, itemShape } from "./step-shapes.ts";

export interface StepExpressions {
  issues: LocatedIssue[];
  /** The shapes of its template and cel fields. */
  fields: Readonly<Record<string, Shape>>;
}

/** Checks a cel field, which its schema has accepted. */
const cel = (source: unknown, scope: TypeScope): CheckResult => checkCel(source as string | boolean, scope);

/** @param output the output of the step, as far as it is known; a `repeat` reads it as `result` */
export async function checkStepExpressions(
  step: ParsedStep,
  index: number,
  scope: TypeScope,
  output: Shape,
  yieldToEventLoop: () => Promise<void>,
): Promise<StepExpressions> {
  const { raw, type, invalidFields } = step;
  const issues: LocatedIssue[] = [];
  const fields: Record<string, Shape> = {};
  const usable = (field: string): boolean => Object.hasOwn(raw, field) && !invalidFields.has(field);
  const report = (field: string, checked: CheckResult, typeIssues: CheckResult["issues"]): void => {
    const found = withTypeIssues(checked, typeIssues, raw[field]);
    issues.push(...found.map((issue) => prefixPath(["steps", index, field], issue)));
  };

  if (usable("if")) {
    const checked = cel(raw["if"], scope);
    report("if", checked, conditionTypeIssues(checked.shape));
  }
  // The other fields are evaluated only where the condition is true.
  const outer = usable("if") ? withFacts(scope, factsOfCondition(raw["if"])) : scope;
  let inner = outer;
  if (Object.hasOwn(raw, "for_each")) {
    const checked = usable("for_each") ? cel(raw["for_each"], outer) : { shape: ANY, issues: [] };
    report("for_each", checked, listIssues(checked.shape));
    inner = { ...outer, item: itemShape(checked.shape), index: INDEX_SHAPE };
  }
  if (Object.hasOwn(raw, "repeat")) {
    inner = loopScope(step, inner, output);
    issues.push(...repeatIssues(step, index, inner, output));
  }
  const match = eventMatch(raw);
  if (match !== undefined && eventSchema(raw) !== undefined) {
    const checked = checkCel(match, { ...inner, event: awaitedEvent(raw) });
    const found = withTypeIssues(checked, conditionTypeIssues(checked.shape), match);
    issues.push(...found.map((issue) => prefixPath(["steps", index, "event", "match"], issue)));
  }
  for (const [name, field] of Object.entries((type?.fields ?? {}) as Record<string, Field>)) {
    if (field.kind === "literal" || !usable(name)) continue;
    const checked =
      field.kind === "cel"
        ? cel(raw[name], inner)
        : await checkValueAsync(raw[name], inner, yieldToEventLoop, field.encoding);
    fields[name] = checked.shape;
    report(name, checked, fieldIssues(field.schema, checked.shape));
  }
  return { issues, fields };
}

/** The shape of `event` in `match`. */
function awaitedEvent(raw: Readonly<Record<string, unknown>>): Shape {
  const schema = eventSchema(raw) ?? {};
  const isKnown = Object.keys(schema).length > 0 && schemaIssues(schema).length === 0;
  return objectOf({ body: isKnown ? shapeOfSchema(schema) : ANY, received_at: STRING });
}

function listIssues(shape: Shape): PartialIssue[] {
  if (shape.kind !== "list" && shape.kind !== "any") return [wrongType("list", shape)];
  if (shape.kind === "any" || shape.nullable !== true) return [];
  return [
    {
      code: "maybe_null",
      message: "must be a list, but may be null",
      fix: "Write … ?? [] for no items, or skip the step with if.",
      severity: "warning",
    },
  ];
}
