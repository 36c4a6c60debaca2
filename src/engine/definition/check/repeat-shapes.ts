/** The shapes of `loop` and `result` in the expressions of a repeated step, and the issues of its `repeat`. */
import { ANY, NUMBER, objectOf, type Shape } from "../../../core/shapes.ts";
import { checkCel, checkValue } from "../expressions/index.ts";
import type { CheckResult, TypeScope } from "../expressions/types.ts";
import { toShape, unionOf } from "../expressions/typing.ts";
import { prefixPath, type LocatedIssue } from "./check-report.ts";
import type { ParsedStep } from "./schema-check.ts";
import { iterationShape } from "./step-shapes.ts";
import { conditionTypeIssues, withTypeIssues } from "./type-issues.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Rounds in which the shape of a variable may still grow. Afterwards its shape is unknown. */
const MAX_ROUNDS = 3;
/** Maximum number of shapes compared to find the shape of one variable. */
const MAX_COMPARED = 500;

const asObject = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const isCel = (value: unknown): value is string | boolean =>
  typeof value === "string" || typeof value === "boolean";

const variablesOf = (raw: Fields): [string, Fields][] =>
  Object.entries(asObject(asObject(raw["repeat"])["with"])).map(([name, variable]) => [
    name,
    asObject(variable),
  ]);

/**
 * Returns the scope of the fields of a repeated step, with `loop`. A variable has the shape of its `start`, or of its
 * `next`, which may read the variable itself; so the shapes grow until they stay the same.
 * @param output the output of the step, as far as it is known: every output of an iteration must have this shape
 */
export function loopScope({ raw }: ParsedStep, scope: TypeScope, output: Shape): TypeScope {
  const result = iterationShape(raw, output);
  const variables = variablesOf(raw);
  const shapes: Record<string, Shape> = {};
  for (const [name, { start }] of variables) shapes[name] = checkValue(start, scope).shape;
  const withLoop = (): TypeScope => ({ ...scope, loop: objectOf({ ...shapes, index: NUMBER }) });
  for (let round = 1, isGrowing = true; isGrowing; round += 1) {
    isGrowing = false;
    const inner = { ...withLoop(), result };
    for (const [name, { next }] of variables) {
      const after = isCel(next) ? checkCel(next, inner).shape : ANY;
      const union = toShape(unionOf(shapes[name]!, after, { remaining: MAX_COMPARED }));
      if (JSON.stringify(union) === JSON.stringify(shapes[name])) continue;
      shapes[name] = round < MAX_ROUNDS ? union : ANY;
      isGrowing = true;
    }
  }
  return withLoop();
}

/** Returns the issues of the expressions in `repeat`. @param scope that of the fields, with `loop` */
export function repeatIssues(
  { id, raw }: ParsedStep,
  index: number,
  scope: TypeScope,
  output: Shape,
): LocatedIssue[] {
  const inner = { ...scope, result: iterationShape(raw, output), resultOf: id };
  const { loop: _, ...outside } = scope;
  const issues: LocatedIssue[] = [];
  const report = (path: readonly PropertyKey[], found: CheckResult["issues"]): void => {
    issues.push(...found.map((issue) => prefixPath(["steps", index, "repeat", ...path], issue)));
  };
  const { until } = asObject(raw["repeat"]);
  if (isCel(until)) {
    const checked = checkCel(until, inner);
    report(["until"], withTypeIssues(checked, conditionTypeIssues(checked.shape), until));
  }
  for (const [name, { start, next }] of variablesOf(raw)) {
    report(["with", name, "start"], checkValue(start, outside).issues);
    if (isCel(next)) report(["with", name, "next"], checkCel(next, inner).issues);
  }
  return issues;
}
