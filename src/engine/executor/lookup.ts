/** Asks the `lookup` of a step whether the effect of an interrupted attempt happened. */
import { canonicalJson } from "../../core/canonical-json.ts";
import type { Connections } from "../../core/connections.ts";
import { shortHash } from "../../core/short-hash.ts";
import { StepError } from "../../core/step-errors.ts";
import type { JobContext } from "../../queue/types.ts";
import { parseInput } from "../definition/parse-input.ts";
import { type Plan, resolveFields } from "../definition/plan.ts";
import type { Attempt } from "./attempt.ts";
import type { Evaluate } from "./evaluator.ts";
import type { AttemptOptions } from "./execute-attempt.ts";
import type { LookUp } from "./interrupted-effect.ts";
import { runStepCode } from "./run-step-code.ts";
import { secretUseRecorder } from "./secret-uses.ts";
import { encodeOutput, toCondition } from "./step-values.ts";

/** The evaluator, the connections and the job of the attempt that asks. */
interface Use {
  evaluate: Evaluate;
  connections: Connections;
  jobContext: JobContext;
}

/** @returns a function that asks the lookup of the step, which must have one */
export const createLookUp =
  (
    { context, scopes, usageLimits }: AttemptOptions,
    plan: Plan,
    attempt: Attempt,
    { evaluate, connections, jobContext }: Use,
  ): LookUp =>
  async ({ idempotencyKey }) => {
    const { run, job, planned } = attempt;
    const { request, happened, output, reads } = planned.lookup!;
    const scope = {
      ...(await scopes.loadScope(plan, run, reads, job)),
      idempotency_key: idempotencyKey,
    };
    const input = parseInput(request, await resolveFields(request, (field) => evaluate(field, scope)));
    const inputHash = shortHash(canonicalJson([request.type.type, input]));
    const sent: Attempt = { run, job, planned: request, startedAt: attempt.startedAt, input, inputHash };
    const metered = request.type.meteredResource?.(request.step) ?? null;
    if (metered !== null) await usageLimits.assertRemaining(run, metered);
    const recordUses = await secretUseRecorder(context, connections, sent);
    await jobContext.record(recordUses);
    const outcome = await runStepCode(sent, { context, connections }, jobContext);
    if (outcome.kind !== "done") throw new StepError("step_failed", "A step that waits can't be a lookup.");
    attempt.rows = outcome.rows;
    const result = JSON.parse(encodeOutput(job.stepId, outcome.output).text) as Record<string, unknown>;
    const found = { ...scope, result };
    if (!toCondition(await evaluate(happened, found), `lookup.happened of "${job.stepId}"`))
      return { happened: false };
    const value = output === null ? result : await evaluate(output, found);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { happened: true, output: value as Record<string, unknown> };
    throw new StepError("expression_failed", `lookup.output of "${job.stepId}" must be an object.`, {
      fix: "Return an object with the fields that the step returns.",
    });
  };
