/** The expressions of one step: faults, and what is known of its fields. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { Field } from "../../../core/step-type.ts";
import { checkCel, checkValueAsync } from "../expressions/index.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { fitIssues, describeKind } from "./shape-fit.ts";
import type { ParsedStep } from "./schema-check.ts";
import { prefixPath, type LocatedIssue } from "./check-report.ts";
import { INDEX_SHAPE, itemShape } from "./step-shapes.ts";

export interface StepExpressions {
  issues: LocatedIssue[];
  /** What is known of its template and cel fields. */
  fields: Readonly<Record<string, Shape>>;
}

/** Null counts as false. */
const CONDITION: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

/** A CEL field of a form that its schema has taken. */
const cel = (source: unknown, scope: TypeScope): CheckResult => checkCel(source as string | boolean, scope);

export async function checkStepExpressions(
  step: ParsedStep,
  index: number,
  scope: TypeScope,
  yieldToEventLoop: () => Promise<void>,
): Promise<StepExpressions> {
  const { raw, type, invalidFields } = step;
  const issues: LocatedIssue[] = [];
  const fields: Record<string, Shape> = {};
  const usable = (field: string): boolean => Object.hasOwn(raw, field) && !invalidFields.has(field);
  const tell = (field: string, checked: CheckResult, wrong: CheckResult["issues"]): void => {
    const found = checked.issues.length > 0 ? checked.issues : wrong;
    issues.push(...found.map((issue) => prefixPath(["steps", index, field], issue)));
  };

  if (usable("if")) {
    const checked = cel(raw["if"], scope);
    tell("if", checked, CONDITION.has(checked.shape.kind) ? [] : [wrongType("true or false", checked.shape)]);
  }
  let inner = scope;
  if (Object.hasOwn(raw, "for_each")) {
    const checked = usable("for_each") ? cel(raw["for_each"], scope) : { shape: ANY, issues: [] };
    const isList = checked.shape.kind === "list" || checked.shape.kind === "any";
    tell("for_each", checked, isList ? [] : [wrongType("a list", checked.shape)]);
    inner = { ...scope, item: itemShape(checked.shape), index: INDEX_SHAPE };
  }
  for (const [name, field] of Object.entries((type?.fields ?? {}) as Record<string, Field>)) {
    if (field.kind === "literal" || !usable(name)) continue;
    const checked =
      field.kind === "cel"
        ? cel(raw[name], inner)
        : await checkValueAsync(raw[name], inner, yieldToEventLoop);
    fields[name] = checked.shape;
    tell(name, checked, fitIssues(field.schema, checked.shape));
  }
  return { issues, fields };
}

const wrongType = (wanted: string, shape: Shape) => ({
  code: "wrong_type",
  message: `must give ${wanted}, not ${describeKind(shape)}`,
  ...(wanted === "true or false" && { fix: "Compare it with something, such as > 0 or != null." }),
});
