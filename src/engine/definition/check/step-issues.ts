/** Checks the expressions of one step and derives the shapes of its fields. */
import type { PartialIssue } from "../../../core/connections.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { Field } from "../../../core/step-type.ts";
import { checkCel, checkValueAsync, factsOfCondition, withFacts } from "../expressions/index.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { withConversion } from "../fixes/type-fixes.ts";
import { fieldIssues, describeKind } from "./shape-fit.ts";
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
  // The other fields are evaluated only where the condition is true.
  const outer = usable("if") ? withFacts(scope, factsOfCondition(raw["if"])) : scope;
  let inner = outer;
  if (Object.hasOwn(raw, "for_each")) {
    const checked = usable("for_each") ? cel(raw["for_each"], outer) : { shape: ANY, issues: [] };
    report("for_each", checked, listIssues(checked.shape));
    inner = { ...outer, item: itemShape(checked.shape), index: INDEX_SHAPE };
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

const wrongType = (expected: "boolean" | "list", shape: Shape) => ({
  code: "wrong_type",
  message: `must be a ${expected}, but the expression returns ${describeKind(shape)}`,
  subject: expected,
  ...(expected === "boolean" && { fix: "Compare it with a value, for example > 0 or != null." }),
});
