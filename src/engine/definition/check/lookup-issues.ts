/** Checks what a step says of interrupted attempts: `on_interrupted`, and the `lookup` that finds out whether the effect happened. */
import { z } from "zod";
import { isWaitingStepType } from "../../../../schemas/waiting-step-types.ts";
import { ANY, type Shape, STRING } from "../../../core/shapes.ts";
import { checkCel, checkValueAsync } from "../expressions/index.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";
import { retryCodeIssues } from "./combinations.ts";
import { fieldScope, type NestedCheck, nestedIssues } from "./nested-issues.ts";
import type { ParsedStep } from "./schema-check.ts";
import { fieldIssues } from "./shape-fit.ts";
import { conditionTypeIssues, withTypeIssues } from "./type-issues.ts";

const FIELDS = ["on_interrupted", "lookup"] as const;

/** Reports `on_interrupted` and `lookup` on steps that nothing can interrupt, and a `lookup` that does not fit its step. */
export function interruptionIssues(step: ParsedStep, index: number): LocatedIssue[] {
  const reason = uninterruptible(step);
  if (reason !== undefined)
    return FIELDS.filter((field) => Object.hasOwn(step.raw, field)).map((field) => ({
      path: ["steps", index, field],
      code: "not_allowed",
      message: `has no effect on this step: ${reason}`,
      fix: "Remove it, or move it to the step that has the effect.",
      patch: [{ op: "remove", path: ["steps", index, field] }],
    }));
  const { lookup } = step;
  if (lookup === undefined) return [];
  const path = ["steps", index, "lookup"];
  return [...effectIssues(lookup), ...missingOutputIssues(step, lookup), ...retryCodeIssues(lookup.raw)].map(
    (issue) => prefixPath(path, issue),
  );
}

/** Why no attempt of the step leaves open whether it had an effect; undefined if one can, or if that is not known. */
function uninterruptible({ type, parsed }: ParsedStep): string | undefined {
  if (type === undefined) return undefined;
  if (isWaitingStepType(type.type))
    return `a step of the type ${type.type} waits, and nothing is lost if its executor ends`;
  return parsed !== undefined && !type.hasEffects(parsed)
    ? "it has no effect outside of its run, so it can be repeated"
    : undefined;
}

/** Reports a request that has effects itself. */
const effectIssues = ({ type, parsed }: ParsedStep): LocatedIssue[] =>
  type?.canLookUp === "without_effects" && parsed !== undefined && type.hasEffects(parsed)
    ? [
        {
          path: [],
          code: "not_allowed",
          message: "has effects itself: it must only read whether the effect happened",
          fix: "Write a request that only reads: an http step with the method GET, or a sql step without write.",
        },
      ]
    : [];

/** Only a lookup of the same type returns what the step does. */
const missingOutputIssues = ({ type }: ParsedStep, { raw, type: lookupType }: ParsedStep): LocatedIssue[] =>
  type === undefined ||
  lookupType === undefined ||
  lookupType.type === type.type ||
  Object.hasOwn(raw, "output")
    ? []
    : [
        {
          path: ["output"],
          code: "missing",
          message: `is required: a lookup of the type ${lookupType.type} does not return what a step of the type ${type.type} returns`,
          fix: `Add output: what the step returns if the effect happened${listedFields(type.output)}. It reads the output of the lookup as result.`,
        },
      ];

const listedFields = (shape: Shape): string =>
  shape.kind === "object" ? `, with ${Object.keys(shape.fields).join(", ")}` : "";

/** Checks the expressions of a `lookup`, and what its type checks. */
export async function lookupIssues(
  step: ParsedStep,
  index: number,
  check: NestedCheck,
): Promise<LocatedIssue[]> {
  const { lookup } = step;
  // The issue that it is not allowed here is enough.
  if (lookup === undefined || uninterruptible(step) !== undefined) return [];
  const path = ["steps", index, "lookup"] as const;
  const scope: TypeScope = { ...fieldScope(step, check.scope), idempotency_key: STRING };
  const { issues, output, readOnly } = await nestedIssues(lookup, path, scope, check);
  const after = { ...scope, result: output ?? lookup.type?.output ?? ANY };
  const reading = await resultIssues(lookup, after, check);
  return [...issues, ...[...reading, ...readOnlyIssues(readOnly)].map((issue) => prefixPath(path, issue))];
}

const OUTPUT = z.record(z.string(), z.unknown());

/** Checks the expressions that read the output of the request. */
async function resultIssues(
  { raw, invalidFields }: ParsedStep,
  scope: TypeScope,
  { output: stepOutput, yieldToEventLoop }: NestedCheck,
): Promise<LocatedIssue[]> {
  const { happened, output } = raw;
  const issues: LocatedIssue[] = [];
  const report = (field: string, checked: CheckResult, typeIssues: CheckResult["issues"]): void => {
    const found = withTypeIssues(checked, typeIssues, raw[field]);
    issues.push(...found.map((issue) => prefixPath([field], issue)));
  };
  if (happened !== undefined && !invalidFields.has("happened")) {
    const checked = checkCel(happened as string | boolean, scope);
    report("happened", checked, conditionTypeIssues(checked.shape));
  }
  if (output !== undefined && !invalidFields.has("output")) {
    const checked = await checkValueAsync(output, scope, yieldToEventLoop);
    report("output", checked, [...fieldIssues(OUTPUT, checked.shape), ...lacking(checked.shape, stepOutput)]);
  }
  return issues;
}

/** Warns of fields that later steps may read of the step, and that its output lacks if a lookup gives it. */
function lacking(given: Shape, expected: Shape): CheckResult["issues"] {
  if (given.kind !== "object" || given.open === true || expected.kind !== "object") return [];
  const missing = Object.keys(expected.fields).filter((field) => !Object.hasOwn(given.fields, field));
  if (missing.length === 0) return [];
  const names = missing.join(", ");
  return [
    {
      code: "incomplete_output",
      severity: "warning",
      message: `lacks ${names}, which steps after this one can read otherwise`,
      fix: `Add ${names}.`,
    },
  ];
}

/** Warns of a request that may have effects itself. */
const readOnlyIssues = (readOnly: boolean | undefined): LocatedIssue[] =>
  readOnly === false
    ? [
        {
          path: ["tool"],
          code: "may_have_effects",
          severity: "warning",
          message: "is not declared to only read (readOnlyHint), and a lookup must have no effects",
          fix: "Use a tool that only reads. If this one does, nothing needs to be done.",
        },
      ]
    : [];
