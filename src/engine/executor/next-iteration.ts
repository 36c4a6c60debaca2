/**
 * Decides what a repeated step does next. The job of the step itself asks this before the first iteration and after each
 * one; the iterations are recorded like the items of a fan-out.
 */
import { iso } from "../../core/clock.ts";
import type { StepRecord } from "../../core/model.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Plan } from "../definition/plan.ts";
import { evaluateVariables, type PlannedRepeat } from "../definition/repeat.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { toRunError } from "../run-state/run-error.ts";
import type { StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import type { Compiled } from "../definition/expressions/index.ts";
import type { Evaluate } from "./evaluator.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { runsAgain } from "./runs-again.ts";
import { toCondition } from "./step-values.ts";

/**
 * Decides whether another iteration follows those that have run.
 * @param record the record of the step, which counts them
 * @returns `failed` when the iterations are exhausted or an expression failed: no retry of the step would help
 */
export async function nextIteration(
  { context, scopes }: { context: RunContext; scopes: ExpressionScopes },
  plan: Plan,
  { run, job, planned }: Attempt,
  record: StepRecord,
  evaluate: Evaluate,
): Promise<StepResult> {
  const repeat = planned.repeat!;
  const last = { runId: run.id, stepId: job.stepId, item: record.items!.started - 1 };
  const result = await scopes.resultOf(plan, last);
  const scope = { ...(await scopes.loadScope(plan, run, repeat.nextReads, last)), result: result.value };
  try {
    const evaluateNext = (expression: Compiled): Promise<unknown> => evaluate(expression, scope);
    if (await isDone(repeat, job.stepId, last.item, evaluateNext)) return { kind: "repeated" };
    const loop = await evaluateVariables(repeat, "next", evaluateNext);
    // An iteration whose recorded output was reused did nothing that a pause could wait for.
    const isLive = result.reusedFrom === null && (run.replay === null || planned.type.compute === undefined);
    const pauses = repeat.everyMs > 0 && isLive;
    const dueAt = pauses ? iso(context.clock.now() + repeat.everyMs) : null;
    return { kind: "iteration", index: last.item + 1, loop, dueAt };
  } catch (thrown) {
    if (!(thrown instanceof StepError) || runsAgain(thrown, job) || isAborted(thrown)) throw thrown;
    return { kind: "failed", error: toRunError(thrown, job) };
  }
}

/** Whether the run was stopped, or the executor, while an expression was evaluated. */
const isAborted = ({ code }: StepError): boolean => code === "cancelled" || code === "interrupted";

/**
 * Whether the loop ends after the iteration `index`.
 * @throws StepError repeat_exhausted, or an error of the expression
 */
async function isDone(
  { until, max }: PlannedRepeat,
  stepId: string,
  index: number,
  evaluate: (expression: Compiled) => Promise<unknown>,
): Promise<boolean> {
  if (until !== null && toCondition(await evaluate(until), `until of "${stepId}"`)) return true;
  if (index + 1 < max) return false;
  if (until === null) return true;
  throw new StepError(
    "repeat_exhausted",
    `"${stepId}" ran ${max} time${max === 1 ? "" : "s"}, and its until is still not true.`,
    { fix: "Raise repeat.max, or use on_error: continue and read the iterations in items." },
  );
}
