/** Checks all steps, each after the steps that it reads. */
import type { z } from "zod";
import { JsonSchemaObject } from "../../../../schemas/field-values.ts";
import type { PartialIssue } from "../../../core/connections.ts";
import type { StepFacts } from "../../../core/model.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { Field, UnresolvedStep } from "../../../core/step-type.ts";
import { schemaIssues } from "../../../core/json-schema/index.ts";
import type { ResourceChecker } from "./resource-checks.ts";
import type { TypeScope } from "../expressions/types.ts";
import type { ParsedStep } from "./schema-check.ts";
import pLimit from "p-limit";
import type { StepOrder } from "./step-order.ts";
import {
  hasErrors,
  prefixPath,
  type CheckedStep,
  type LocatedIssue,
  MAX_ISSUES,
  typeText,
} from "./check-report.ts";
import { mentionedStepIds, type RunShapes, type TypeScopes, typeScopes } from "./type-scopes.ts";
import { type StepExpressions, checkStepExpressions } from "./step-issues.ts";
import { stepResultShape } from "./step-shapes.ts";
import { lookupIssues } from "./lookup-issues.ts";
import { undoIssues } from "./undo-issues.ts";

export interface CheckedSteps {
  issues: LocatedIssue[];
  steps: CheckedStep[];
  /** The output of each step by its type, by position. */
  typeOutputs: readonly Shape[];
  /** The positions of steps whose receiver declares that they only read. */
  readOnly: ReadonlySet<number>;
  scopes: TypeScopes;
}

export async function checkSteps(
  steps: readonly ParsedStep[],
  order: StepOrder,
  shapes: RunShapes,
  resources: ResourceChecker,
  yieldToEventLoop: () => Promise<void>,
): Promise<CheckedSteps> {
  const issues: LocatedIssue[] = [];
  const typeOutputs: Shape[] = steps.map(({ type }) => type?.output ?? ANY);
  const results: Shape[] = [];
  const facts: (StepFacts | undefined)[] = [];
  const readOnly = new Set<number>();
  const scopes = typeScopes(steps, order, shapes, results);
  const checked = new Map<number, Promise<void>>();
  const limit = pLimit(1);

  async function checkExpressions(
    step: ParsedStep,
    index: number,
    mentions: ReadonlySet<string>,
  ): Promise<StepExpressions> {
    const output = typeOutputs[index]!;
    const check = (scope: TypeScope): Promise<StepExpressions> =>
      checkStepExpressions(step, index, scope, output, yieldToEventLoop);
    const result = await check(scopes.ofMentionedSteps(index, mentions));
    // Near matches need all names. They are not searched for issues beyond the maximum, which are not reported.
    const needsNearMatches = hasErrors(result.issues) && issues.length < MAX_ISSUES;
    return needsNearMatches ? check(scopes.ofAllSteps(index)) : result;
  }

  const earlierSteps = (index: number): UnresolvedStep[] =>
    steps.flatMap(({ parsed }, other) =>
      parsed !== undefined && other !== index && order.isAncestor(index, other) ? [parsed] : [],
    );

  async function checkStep(index: number): Promise<void> {
    const step = steps[index]!;
    const mentions = mentionedStepIds(step.raw, order.position);
    const mentioned = [...mentions].map((id) => order.position.get(id)!);
    await Promise.all(
      mentioned.filter((other) => order.isAncestor(index, other)).map((other) => checked.get(other)!),
    );
    const expressions = (): Promise<StepExpressions> =>
      limit(async () => {
        await yieldToEventLoop();
        const result = await checkExpressions(step, index, mentions);
        return { ...result, issues: [...result.issues, ...schemaFieldIssues(step, index)] };
      });
    let { issues: stepIssues, fields } = await expressions();
    let typeIssues: LocatedIssue[] = [];
    if (step.checkable !== undefined && step.type?.check !== undefined) {
      const result = await resources.check(step, fields, () => earlierSteps(index));
      typeIssues = result.issues
        .filter((issue) => !followsFrom(issue, step))
        .map((issue) => prefixPath(["steps", index], issue));
      if (result.output !== undefined) typeOutputs[index] = result.output;
      if (result.readOnly === true) readOnly.add(index);
      if (step.type.needsFacts?.(step.checkable) === true) facts[index] = result.facts;
      // A repeated step reads its own output, which is known better now.
      if (Object.hasOwn(step.raw, "repeat")) ({ issues: stepIssues, fields } = await expressions());
    }
    const reported = new Set(stepIssues.map(identityOf));
    issues.push(...stepIssues, ...typeIssues.filter((issue) => !reported.has(identityOf(issue))));
    results[index] = stepResultShape(step.raw, typeOutputs[index]!);
    if (step.undo === undefined && step.lookup === undefined) return;
    const nested = {
      scope: scopes.ofAllSteps(index),
      output: typeOutputs[index]!,
      resources,
      earlierSteps: () => earlierSteps(index),
      yieldToEventLoop,
    };
    issues.push(...(await undoIssues(step, index, nested)), ...(await lookupIssues(step, index, nested)));
  }

  for (const index of order.sorted) {
    const result = checkStep(index);
    checked.set(index, result);
    // The promise is awaited below. Until then its rejection must not be unhandled.
    result.catch(() => undefined);
    await yieldToEventLoop();
  }
  await Promise.all(checked.values());
  return {
    issues,
    steps: steps.map((step, index) => summary(step, results[index]!, facts[index])),
    typeOutputs,
    readOnly,
    scopes,
  };
}

/** Whether an issue of the type may only be due to a field whose value is not known because of its own issue. */
const followsFrom = ({ path = [] }: PartialIssue, { invalidFields }: ParsedStep): boolean =>
  path.length === 0 ? invalidFields.size > 0 : invalidFields.has(String(path[0]));

const identityOf = (issue: LocatedIssue): string => JSON.stringify([issue.path.map(String), issue.code]);

/** A step without a valid id is reported with an empty one. */
const summary = (
  { id, type, raw, parsed }: ParsedStep,
  output: Shape,
  facts: StepFacts | undefined,
): CheckedStep => ({
  id: id.startsWith("#") ? "" : id,
  type: type?.type ?? (typeof raw["type"] === "string" ? raw["type"] : ""),
  output,
  output_type: typeText(output),
  // A step that can't be parsed may have effects.
  effects: type === undefined || parsed === undefined ? true : type.hasEffects(parsed),
  ...(facts !== undefined && { facts }),
});

/** Checks the JSON Schemas of a step (`output_schema`, `form`). */
function schemaFieldIssues({ raw, type, invalidFields }: ParsedStep, index: number): LocatedIssue[] {
  return Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind, schema }]) =>
    kind === "literal" && isJsonSchema(schema) && Object.hasOwn(raw, name) && !invalidFields.has(name)
      ? schemaIssues(raw[name]).map((issue) => prefixPath(["steps", index, name], issue))
      : [],
  );
}

/** Whether a field is a JSON Schema: whether its schema wraps `JsonSchemaObject`. */
function isJsonSchema(schema: z.ZodType): boolean {
  const inner = (schema.def as { innerType?: z.ZodType }).innerType;
  return inner === undefined ? (schema.def as unknown) === JsonSchemaObject.def : isJsonSchema(inner);
}
