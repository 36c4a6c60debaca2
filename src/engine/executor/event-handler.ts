/** Handles an event that was received: it ends the wait, or it is dropped because it does not match. */
import { iso } from "../../core/clock.ts";
import type { EventReader } from "../../core/event-ports.ts";
import type { Job, RunRecord } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import { stepRefLogFields } from "../../core/step-ref-log-fields.ts";
import { StepError } from "../../core/step-errors.ts";
import { usageSubjectOf } from "../../core/usage-limits.ts";
import type { JobHandler } from "../../queue/types.ts";
import { eventMatch } from "../definition/event-steps.ts";
import { compileCel } from "../definition/expressions/index.ts";
import type { Plan } from "../definition/plan.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { receivedResult, timedOut } from "../run-state/waits/event.ts";
import type { Evaluator } from "./evaluator.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { toCondition } from "./step-values.ts";
import { endWait } from "./wait-handlers.ts";

interface Options {
  context: RunContext;
  runs: RunReader;
  events: EventReader;
  scopes: ExpressionScopes;
  evaluator: Evaluator;
  planOf(run: RunRecord): Promise<Plan>;
}

export function eventHandler(options: Options): JobHandler {
  const { context } = options;
  return async (job) => {
    if (await matches(options, job)) return endWait(context, job, (tx) => receivedResult(tx, job));
    return endWait(context, job, async (tx, { waitUntil }) => {
      await tx.events.discard(job);
      tx.onCommit(() => context.log.info(stepRefLogFields(job), "event does not match"));
      return waitUntil !== null && waitUntil <= iso(context.clock.now()) ? timedOut(job) : undefined;
    });
  };
}

/** Whether the event matches. One that `match` can't be evaluated for does not: somebody outside has written it. */
async function matches(
  { context, runs, events, scopes, evaluator, planOf }: Options,
  job: Job,
): Promise<boolean> {
  const run = await runs.find(job.runId);
  const event = await events.find(job);
  if (run === undefined || event === undefined) return true;
  const plan = await planOf(run);
  const match = eventMatch(plan.steps[plan.compiled.position.get(job.stepId)!]!.step);
  if (match === undefined) return true;
  const compiled = compileCel(match);
  const scope = await scopes.loadScope(plan, run, compiled.stepIds, job);
  const received = { body: event.body, received_at: event.receivedAt };
  try {
    const evaluate = evaluator.forJob(usageSubjectOf(run.actor));
    return toCondition(await evaluate(compiled, { ...scope, event: received }), "match");
  } catch (err) {
    if (!(err instanceof StepError) || err.transient) throw err;
    context.log.warn({ err, ...stepRefLogFields(job) }, "match of an event can't be evaluated");
    return false;
  }
}
