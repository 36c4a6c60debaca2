/** Checks the examples: their inputs, the outputs that they are given, and what they assert. */
import { givenParts } from "../../../../schemas/given.ts";
import { formatShape } from "../../../core/format-shape.ts";
import type { InputsValidator } from "../../../core/json-schema/index.ts";
import { runsInTrial } from "../../../core/step-type.ts";
import { checkCel } from "../expressions/index.ts";
import type { TypeScope } from "../expressions/types.ts";
import { type LocatedIssue, MAX_ISSUES, prefixPath } from "./check-report.ts";
import { type ExpectedOutputs, outputIssues, unknownStep } from "./given-issues.ts";
import type { ParsedStep } from "./schema-check.ts";
import { conditionTypeIssues, withTypeIssues } from "./type-issues.ts";

interface Steps extends ExpectedOutputs {
  steps: readonly ParsedStep[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Checks the inputs and given outputs of the examples, up to the maximum number of issues.
 * @param validator undefined where the schema of the inputs has issues
 */
export async function exampleIssues(
  examples: unknown,
  validator: InputsValidator | undefined,
  parts: Steps,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  const issues: LocatedIssue[] = [];
  if (!Array.isArray(examples)) return issues;
  for (const [index, example] of (examples as unknown[]).entries()) {
    if (issues.length >= MAX_ISSUES) break;
    if (!isObject(example)) continue;
    const { inputs = {}, given = {} } = example;
    const path = ["examples", index];
    const parsed = validator?.parse(inputs);
    if (parsed !== undefined && "issues" in parsed)
      issues.push(...parsed.issues.map((issue) => prefixPath([...path, "inputs"], issue)));
    if (isObject(given)) issues.push(...givenIssues(given, [...path, "given"], parts));
    await yieldToEventLoop();
  }
  return issues;
}

function givenIssues(
  given: Record<string, unknown>,
  path: readonly PropertyKey[],
  { steps, ...expected }: Steps,
): LocatedIssue[] {
  const { order } = expected;
  const { outputs, fromRun, steps: chosen } = givenParts(given);
  const issues = outputIssues(outputs, expected, path);
  for (const [index, id] of (chosen ?? []).entries())
    if (typeof id !== "string" || !order.position.has(id))
      issues.push({ path: [...path, "steps", index], ...unknownStep(String(id), order) });
  if (chosen !== undefined && fromRun === undefined)
    issues.push({
      path: [...path, "steps"],
      code: "not_allowed",
      message: "needs from_run, the run whose outputs are taken",
      fix: "Add from_run: the id of a run of this workflow.",
    });
  const isGiven = (id: string): boolean =>
    Object.hasOwn(outputs, id) || (fromRun !== undefined && chosen?.includes(id) !== false);
  const missing = steps.find((step) => alwaysStops(step) && !isGiven(step.id));
  if (missing !== undefined) issues.push(notChecked(missing, path.slice(0, -1)));
  return issues;
}

/** Whether a trial ends at a step that it is not given, as far as the definition says. */
const alwaysStops = ({ raw, type, parsed }: ParsedStep): boolean =>
  type !== undefined &&
  parsed !== undefined &&
  raw["if"] === undefined &&
  raw["for_each"] === undefined &&
  !runsInTrial(type, parsed);

const notChecked = ({ id, type }: ParsedStep, path: readonly PropertyKey[]): LocatedIssue => ({
  path,
  code: "not_checked",
  severity: "warning",
  message: `is checked up to "${id}" (${type!.type}) only, because publishing executes no step with effects and asks nobody`,
  fix: `Give its output: given: { ${id}: ${formatShape(type!.output)} }.`,
});

/**
 * Checks the assertions of the examples.
 * @param scope what they can read: the same as `output`, and the output
 */
export async function assertionIssues(
  examples: unknown,
  scope: TypeScope,
  yieldToEventLoop: () => Promise<void>,
): Promise<LocatedIssue[]> {
  const issues: LocatedIssue[] = [];
  if (!Array.isArray(examples)) return issues;
  for (const [index, example] of (examples as unknown[]).entries()) {
    const assertions = isObject(example) && Array.isArray(example["assert"]) ? example["assert"] : [];
    for (const [at, source] of (assertions as unknown[]).entries()) {
      if (issues.length >= MAX_ISSUES) return issues;
      // The schema of the definition reports others.
      if (typeof source !== "string") continue;
      const checked = checkCel(source, scope);
      const found = withTypeIssues(checked, conditionTypeIssues(checked.shape), source);
      issues.push(...found.map((issue) => prefixPath(["examples", index, "assert", at], issue)));
      await yieldToEventLoop();
    }
  }
  return issues;
}
