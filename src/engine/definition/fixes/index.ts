/** Adds the patch, or at least a sentence, that fixes each issue of a definition. */
import type { LocatedIssue } from "../check/check-report.ts";
import type { ParsedStep } from "../check/schema-check.ts";
import type { StepOrder } from "../check/step-order.ts";
import { type Fields, isWithin, type Path } from "./intended-fields.ts";
import { intendSchema } from "./intended-schema.ts";
import { SCHEMA_FIELDS, valueAt } from "./schema-fixes.ts";
import { missingParameterFix, queryTemplateFix, queryWordFix } from "./query-fixes.ts";
import { duplicateIdFix, orderFix } from "./step-order-fixes.ts";
import { rewriteTexts } from "./text-rewrites.ts";
import { duplicateAssigneeFix, fanOutConditionFix, nearWordFix, reservedNameFix } from "./value-fixes.ts";

export interface FixContext {
  /** The definition, with the fields that it means. */
  written: Fields;
  steps: readonly ParsedStep[];
  order: StepOrder;
}

type Fix = Pick<LocatedIssue, "fix" | "patch">;
export type FixRule = (issue: LocatedIssue, context: FixContext) => Fix | undefined;

/** The first rule that knows the issue decides. */
const RULES: readonly FixRule[] = [
  schemaFix,
  orderFix,
  duplicateIdFix,
  duplicateAssigneeFix,
  fanOutConditionFix,
  reservedNameFix,
  queryTemplateFix,
  missingParameterFix,
  queryWordFix,
  nearWordFix,
];

/** @param issues issues with paths in the intended definition */
export function addFixes(issues: readonly LocatedIssue[], context: FixContext): LocatedIssue[] {
  const rewritten = rewriteTexts(issues, context.written);
  return issues.map((issue): LocatedIssue => {
    const patch = issue.patch ?? rewritten.get(issue);
    if (patch !== undefined) return { fix: "Apply the patch.", ...issue, patch };
    for (const rule of RULES) {
      const fix = rule(issue, context);
      if (fix !== undefined) return { ...issue, ...fix };
    }
    return issue;
  });
}

/** Replaces a JSON Schema by the one that it means. */
function schemaFix(issue: LocatedIssue, { written }: FixContext): Fix | undefined {
  const path = schemaPath(issue.path);
  const schema = path && intendSchema(valueAt(written, path), path.at(-1) !== "output_schema");
  if (schema === undefined || !isWithin(path!, issue.path)) return undefined;
  return {
    fix: `Write ${String(path!.at(-1))}: ${JSON.stringify(schema)}.`,
    patch: [{ op: "replace", path: path!, value: schema }],
  };
}

function schemaPath([first, index, field]: Path): Path | undefined {
  if (first === "inputs") return ["inputs"];
  const isSchema = first === "steps" && typeof field === "string" && SCHEMA_FIELDS.has(field);
  return isSchema && field !== "inputs" ? ["steps", index!, field] : undefined;
}
