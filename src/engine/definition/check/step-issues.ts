/** Checks the expressions of one step and derives the shapes of its fields. */
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { Field } from "../../../core/step-type.ts";
import { checkCel, checkValueAsync } from "../expressions/index.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { withConversion } from "../fixes/type-fixes.ts";
import { fitIssues, describeKind } from "./shape-fit.ts";
import type { ParsedStep } from "./schema-check.ts";
import { hasErrors, prefixPath, type LocatedIssue } from "./check-report.ts";
import { INDEX_SHAPE, itemShape } from "./step-shapes.ts";

export interface StepExpressions {
  issues: LocatedIssue[];
  /** The shapes of its template and cel fields. */
  fields: Readonly<Record<string, Shape>>;
}

/** The kinds that a condition accepts: null counts as false. */
const CONDITION_KINDS: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

/** Checks a cel field, which its schema has accepted. */
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
  const report = (field: string, checked: CheckResult, typeIssues: CheckResult["issues"]): void => {
    // A type that was found in spite of an error is uncertain.
    const certain = hasErrors(checked.issues) ? [] : typeIssues;
    const converted = certain.map((issue) => withConversion(issue, raw[field], checked.shape));
    const found = [...checked.issues, ...converted];
    issues.push(...found.map((issue) => prefixPath(["steps", index, field], issue)));
  };

  if (usable("if")) {
    const checked = cel(raw["if"], scope);
    report(
      "if",
      checked,
      CONDITION_KINDS.has(checked.shape.kind) ? [] : [wrongType("boolean", checked.shape)],
    );
  }
  let inner = scope;
  if (Object.hasOwn(raw, "for_each")) {
    const checked = usable("for_each") ? cel(raw["for_each"], scope) : { shape: ANY, issues: [] };
    const isList = checked.shape.kind === "list" || checked.shape.kind === "any";
    report("for_each", checked, isList ? [] : [wrongType("list", checked.shape)]);
    inner = { ...scope, item: itemShape(checked.shape), index: INDEX_SHAPE };
  }
  for (const [name, field] of Object.entries((type?.fields ?? {}) as Record<string, Field>)) {
    if (field.kind === "literal" || !usable(name)) continue;
    const checked =
      field.kind === "cel"
        ? cel(raw[name], inner)
        : await checkValueAsync(raw[name], inner, yieldToEventLoop);
    fields[name] = checked.shape;
    report(name, checked, fitIssues(field.schema, checked.shape));
  }
  return { issues, fields };
}

const wrongType = (expected: "boolean" | "list", shape: Shape) => ({
  code: "wrong_type",
  message: `must be a ${expected}, but the expression returns ${describeKind(shape)}`,
  subject: expected,
  ...(expected === "boolean" && { fix: "Compare it with a value, for example > 0 or != null." }),
});
