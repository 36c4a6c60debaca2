/** Looks at all steps, each once those are known that it reads. */
import type { z } from "zod";
import { JsonSchemaObject } from "../../../../schemas/workflow-definition.ts";
import { ANY, type Shape } from "../../../core/shapes.ts";
import type { Field } from "../../../core/step-type.ts";
import { schemaIssues } from "../../../core/json-schema/index.ts";
import type { ResourceChecker } from "./resource-checks.ts";
import type { ParsedStep } from "./schema-check.ts";
import pLimit from "p-limit";
import type { StepOrder } from "./step-order.ts";
import { prefixPath, type CheckedStep, type LocatedIssue, MAX_ISSUES } from "./check-report.ts";
import { mentionedStepIds, type TypeScopes, typeScopes } from "./type-scopes.ts";
import { type StepExpressions, checkStepExpressions } from "./step-issues.ts";
import { stepResultShape } from "./step-shapes.ts";

export interface CheckedSteps {
  issues: LocatedIssue[];
  steps: CheckedStep[];
  /** By position, what the step's type gives. */
  typeOutputs: readonly Shape[];
  scopes: TypeScopes;
}

export async function checkSteps(
  steps: readonly ParsedStep[],
  order: StepOrder,
  inputs: Shape,
  binder: ResourceChecker,
  yieldToEventLoop: () => Promise<void>,
): Promise<CheckedSteps> {
  const issues: LocatedIssue[] = [];
  const typeOutputs: Shape[] = steps.map(({ type }) => type?.output ?? ANY);
  const seen: Shape[] = [];
  const scopes = typeScopes(steps, order, inputs, seen);
  const done = new Map<number, Promise<void>>();
  const limit = pLimit(1);

  async function expressions(
    step: ParsedStep,
    index: number,
    mentions: ReadonlySet<string>,
  ): Promise<StepExpressions> {
    const found = await checkStepExpressions(
      step,
      index,
      scopes.ofMentionedSteps(index, mentions),
      yieldToEventLoop,
    );
    // Near matches need all names; beyond what is told at all they would be found for nobody.
    const again = found.issues.length > 0 && issues.length < MAX_ISSUES;
    return again ? checkStepExpressions(step, index, scopes.ofAllSteps(index), yieldToEventLoop) : found;
  }

  async function look(index: number): Promise<void> {
    const step = steps[index]!;
    const mentions = mentionedStepIds(step.raw, order.position);
    const before = [...mentions].map((id) => order.position.get(id)!);
    await Promise.all(before.filter((it) => order.isAncestor(index, it)).map((it) => done.get(it)!));
    const { issues: found, fields } = await limit(async () => {
      await yieldToEventLoop();
      const checked = await expressions(step, index, mentions);
      return { ...checked, issues: [...checked.issues, ...writtenSchemas(step, index)] };
    });
    issues.push(...found);
    if (step.parsed !== undefined && step.type?.check !== undefined) {
      const { issues: bound, output } = await binder.check(step, fields);
      const told = new Set(found.map(placeOf));
      issues.push(
        ...bound
          .map((issue) => prefixPath(["steps", index], issue))
          .filter((issue) => !told.has(placeOf(issue))),
      );
      if (output !== undefined) typeOutputs[index] = output;
    }
    seen[index] = stepResultShape(step.raw, typeOutputs[index]!);
  }

  for (const index of order.sorted) {
    const looked = look(index);
    done.set(index, looked);
    // It is awaited below; until then its failure must not go unhandled.
    looked.catch(() => undefined);
    await yieldToEventLoop();
  }
  await Promise.all(done.values());
  return { issues, steps: steps.map((step, index) => summary(step, seen[index]!)), typeOutputs, scopes };
}

const placeOf = (issue: LocatedIssue): string => JSON.stringify([issue.path.map(String), issue.code]);

/** Steps without a usable id are left nameless. */
const summary = ({ id, type, raw, parsed }: ParsedStep, output: Shape): CheckedStep => ({
  id: id.startsWith("#") ? "" : id,
  type: type?.type ?? (typeof raw["type"] === "string" ? raw["type"] : ""),
  output,
  // What can't be read is not said to be harmless.
  effects: type === undefined || parsed === undefined ? true : type.hasEffects(parsed),
});

/** Faults of the JSON Schemas that a step holds (`output_schema`, `form`). */
function writtenSchemas({ raw, type, invalidFields }: ParsedStep, index: number): LocatedIssue[] {
  return Object.entries((type?.fields ?? {}) as Record<string, Field>).flatMap(([name, { kind, schema }]) =>
    kind === "literal" && isJsonSchema(schema) && Object.hasOwn(raw, name) && !invalidFields.has(name)
      ? schemaIssues(raw[name]).map((issue) => prefixPath(["steps", index, name], issue))
      : [],
  );
}

/** Whether a field takes a JSON Schema; descriptions and optionality aside, it is the one schema for that. */
function isJsonSchema(schema: z.ZodType): boolean {
  const inner = (schema.def as { innerType?: z.ZodType }).innerType;
  return inner === undefined ? (schema.def as unknown) === JsonSchemaObject.def : isJsonSchema(inner);
}
