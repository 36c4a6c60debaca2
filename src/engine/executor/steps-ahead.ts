/**
 * Evaluates the steps that follow a step and need nothing but the processor, before its result is recorded: one transaction
 * then records all of them. Nothing else of the run may be active, so nothing but a stop can come in between, and the
 * transaction notices that. What fails here, or needs more, is left to the job that its step gets then.
 */
import { setTimeout as delay } from "node:timers/promises";
import { iso } from "../../core/clock.ts";
import { lazy } from "../../core/lazy.ts";
import type { RunRecord, StepRef } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { StepStates } from "../../core/step-states.ts";
import type { JobContext } from "../../queue/types.ts";
import type { Plan, PlannedStep } from "../definition/plan.ts";
import { decide } from "../run-state/decide.ts";
import type { FinishResult } from "../run-state/end-run.ts";
import type { StepAhead, StepsAhead } from "../run-state/record-outcome.ts";
import { newJob } from "../run-state/run-context.ts";
import { endStateOf } from "../run-state/save-result.ts";
import { type EndedResult, isEnded, type StepResult } from "../run-state/step-result.ts";
import type { Attempt } from "./attempt.ts";
import { evaluateOutput } from "./evaluate-result.ts";
import type { Evaluator } from "./evaluator.ts";
import { type AttemptOptions, executeAttempt } from "./execute-attempt.ts";
import type { EndedStep } from "./expression-scopes.ts";

/**
 * Maximum number of these steps. The result of the first step waits for them, and so do others for the transaction. Their
 * expressions have the work of one job, 5 ms.
 */
const MAX_STEPS = 10;

/** How long the result of the first step waits for these steps, in milliseconds: they read the store. */
const MAX_MS = 250;

export interface AheadOptions extends AttemptOptions {
  evaluator: Pick<Evaluator, "forJob" | "inline">;
  /** How to save the attempt of a step that ends now. */
  savingAttempt(attempt: Attempt, jobContext: JobContext, result: EndedResult): SavedAttempt;
}

export interface SavedAttempt {
  /** ISO 8601. */
  finishedAt: string;
  save(tx: EngineWriters): Promise<void>;
}

/**
 * @param result of the attempt, which is not recorded yet
 * @returns the steps that have ended, in order, and the result of the run if it is over; undefined where there can be none
 */
export async function evaluateAhead(
  options: AheadOptions,
  plan: Plan,
  attempt: Attempt,
  result: StepResult,
  jobContext: JobContext,
): Promise<StepsAhead | undefined> {
  if (!mayBegin(attempt, result)) return undefined;
  const evaluate = options.evaluator.inline();
  const outputs = new Map<string, EndedStep>();
  const scopes = options.scopes.withOutputs(outputs);
  // The steps take milliseconds: what the first of them may use, all may.
  const view = lazy(() => options.views.of(attempt.run.project));
  const inlineOptions: AttemptOptions = {
    ...options,
    scopes,
    views: { of: view },
    evaluator: { forJob: () => evaluate },
  };
  const { clock, maxRunBytes, validation } = options.context;
  const steps: StepAhead[] = [];
  let { storedBytes } = attempt.run;
  let run: RunRecord = { ...attempt.run, startedAt: attempt.run.startedAt ?? attempt.startedAt };

  function end({ job, planned, inputJson }: Attempt, ended: EndedResult): void {
    const state = endStateOf(ended, planned.step);
    const output = ended.kind === "succeeded" ? ended.output : null;
    run = { ...run, stepStates: run.stepStates.with(plan.compiled.position.get(job.stepId)!, state) };
    outputs.set(job.stepId, { state, output });
    storedBytes += Buffer.byteLength(output?.text ?? "") + Buffer.byteLength(inputJson?.text ?? "");
  }

  /** @returns false where the step is left to its own job */
  async function evaluateStep(planned: PlannedStep): Promise<boolean> {
    const ref: StepRef = { runId: run.id, stepId: planned.step.id, item: null };
    const job = { ...attempt.job, ...newJob(ref, "step", run.priority) };
    const follower: Attempt = { run, job, planned, startedAt: iso(clock.now()) };
    const ended = await executeAttempt(inlineOptions, plan, follower, jobContext);
    if (!isEnded(ended)) return false;
    end(follower, ended);
    if (storedBytes > maxRunBytes) return false;
    const { finishedAt, save } = options.savingAttempt(follower, jobContext, ended);
    steps.push({
      ref,
      result: ended,
      times: { startedAt: follower.startedAt, finishedAt, attempts: job.attempt },
      saveAttempt: save,
    });
    return true;
  }

  async function evaluateAll(): Promise<FinishResult | undefined> {
    while (steps.length < MAX_STEPS) {
      const next = nextStep(plan, run.stepStates);
      if (next === "finish" && mayFinish(plan))
        return { output: await evaluateOutput(run, plan, { scopes, evaluate, validation }), committed: null };
      if (next === "finish" || next === undefined || !(await evaluateStep(next))) break;
    }
    return undefined;
  }

  end(attempt, result as EndedResult);
  const evaluated = (async () => {
    // It fails again in the job of its step, which says why.
    const finish = await evaluateAll().catch(() => undefined);
    return { finish };
  })();
  const found = await Promise.race([evaluated, delay(MAX_MS, undefined, { ref: false })]);
  // The result of the first step does not wait for a store that is away.
  if (found === undefined) return undefined;
  const { finish } = found;
  return { from: attempt.run.stepStates, steps, ...(finish !== undefined && { finish }) };
}

/** A job that runs again may have crashed an executor, and a retried run or a trial decides more about each step. */
const mayBegin = ({ run, job }: Attempt, result: StepResult): boolean =>
  (result.kind === "succeeded" || result.kind === "skipped") &&
  job.item === null &&
  job.attempt === 1 &&
  job.crashCount === 0 &&
  run.retryOf === null &&
  !run.isTrial &&
  run.stop === null;

/** The one step that starts next, if it needs nothing but the processor and nothing else of the run is active. */
function nextStep({ compiled, steps }: Plan, states: StepStates): PlannedStep | "finish" | undefined {
  const decision = decide(compiled.graph, states, { stopping: false, activeCount: 0 });
  if (decision.next === "finish") return "finish";
  const [position] = decision.start;
  const isAlone = decision.start.length === 1 && decision.states.positionsOf("queued").length === 1;
  if (position === undefined || !isAlone || decision.states.includes("running", "waiting")) return undefined;
  const { type, forEach, repeat } = steps[position]!;
  const isLimited = compiled.resources[position] !== null || compiled.rates[position] !== null;
  const needsMore = type.compute === undefined || forEach !== null || repeat !== null || isLimited;
  return needsMore ? undefined : steps[position]!;
}

/** A large output may take long to validate, and a commit may meet another one. */
const mayFinish = ({ commit, compiled }: Plan): boolean =>
  commit === null && compiled.definition.output_schema === undefined;
