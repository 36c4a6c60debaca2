/** The part of the engine that only executors need: the handlers of all kinds of jobs, and the scheduler. */
import type { Logger } from "pino";
import { isOwnWork } from "../../core/authored-work.ts";
import { sightOfProject, visiblePlan } from "../../core/visible-plan.ts";
import type { EngineApi } from "../../core/engine-port.ts";
import { AppError, isStorageUnavailable } from "../../core/errors.ts";
import type { EventsApi } from "../../core/event-ports.ts";
import type { JobKind, RunRecord } from "../../core/model.ts";
import type { EngineTransaction } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { OnUnexpectedError, JobHandler } from "../../queue/types.ts";
import type { UsageLimits } from "./usage-limits.ts";
import { onUnexpectedError } from "./on-unexpected-error.ts";
import { cancelHandler, finishHandler, onFailureHandler, runTimeoutHandler } from "./run-handlers.ts";
import { childDoneHandler, decidedHandler, wakeHandler } from "./wait-handlers.ts";
import type { Engine, EngineOptions } from "../engine.ts";
import { escalateHandler, remindHandler } from "./approval-handlers.ts";
import { announceHandler } from "./approval-messages/announce-handler.ts";
import type { ApprovalMessageOptions } from "./approval-messages/message-job.ts";
import { notifyHandler } from "./approval-messages/notify-handler.ts";
import { planner } from "../definition/plan.ts";
import { MAX_CALL_DEPTH } from "../run-state/pin-calls.ts";
import type { PrepareRun } from "../run-state/prepare-run.ts";
import { type Backfiller, backfiller } from "../run-state/backfills.ts";
import { type Backtester, backtester } from "./backtests/backtester.ts";
import { type BulkRunner, bulkRunner } from "./bulk-actions/bulk-runner.ts";
import { retryPlanner } from "./retry-planner.ts";
import { pastItems } from "./past-items.ts";
import { type Scheduler, scheduler } from "../run-state/schedules.ts";
import { decisionsHold } from "../run-state/decisions-hold.ts";
import { type TriggerDeliveryStarter, deliveryStarter } from "./start-deliveries.ts";
import { eventHandler } from "./event-handler.ts";
import { type Evaluator, evaluator } from "./evaluator.ts";
import { expressionScopes } from "./expression-scopes.ts";
import { lowPriority, type RunContext } from "../run-state/run-context.ts";
import { stepHandler, type StepHandlerOptions } from "./step-handler.ts";
import { undoHandler } from "./undo-handler.ts";

interface JobHandlersOptions extends Pick<EngineOptions, "stepTypes" | "read"> {
  engine: Engine;
  transaction: EngineTransaction;
  log: Logger;
  usageLimits: UsageLimits;
  /** The URL to which the event of a step is sent. */
  eventUrl: EventsApi["url"];
  webUrl: ApprovalMessageOptions["webUrl"];
  newToken: ApprovalMessageOptions["newToken"];
  /** Whether those who started a run, or wrote what it runs, may decide its approvals. */
  policy: EngineApi["policy"];
  /** Evaluates the expressions; tests pass another. */
  expressions?: Evaluator;
}

export interface JobHandlers {
  scheduler: Scheduler;
  triggerDeliveries: TriggerDeliveryStarter;
  backfiller: Backfiller;
  backtester: Backtester;
  bulkRunner: BulkRunner;
  handler: JobHandler;
  onUnexpectedError: OnUnexpectedError;
  /** Ends the threads that evaluate expressions. */
  close(): Promise<void>;
}

export function jobHandlers({
  engine,
  stepTypes,
  read,
  transaction,
  log,
  usageLimits,
  eventUrl,
  webUrl,
  newToken,
  policy,
  expressions = evaluator(),
}: JobHandlersOptions): JobHandlers {
  const { runs } = read;
  const { context, prepareRun, durationLimits, parse } = engine;
  const plan = planner(stepTypes, durationLimits);
  const shared = {
    context,
    runs,
    interruptions: read.interruptions,
    planOf: async (run: RunRecord) => plan(await context.definitionCache.get(run, runs)),
    scopes: expressionScopes(runs, eventUrl, context.validation),
    views: engine.views,
    usageLimits,
    evaluator: expressions,
    people: read.users && { users: read.users, projects: read.projects },
    prepareRun,
    async remainingAfter(run: RunRecord, stepId: string) {
      const remaining = await engine.remainingWork.after(read, run, stepId);
      const workflows = await visiblePlan(remaining.workflows, sightOfProject(read, run.project));
      return { ...remaining, workflows };
    },
    log,
  };
  const attempts: StepHandlerOptions = {
    ...shared,
    prepareChildRun: prepareChildRun(context, prepareRun),
    planLevels: async (run, stepId) => (await engine.remainingWork.after(read, run, stepId)).levels,
    decisionsHold: decisionsHold(read, engine.remainingWork),
    pastItems: pastItems(runs),
  };
  const messages: ApprovalMessageOptions = {
    ...shared,
    read,
    webUrl,
    newToken,
    isOwnWork: (email, run, remaining) => isOwnWork(policy, read, email, run, remaining),
  };
  const kinds: Readonly<Record<JobKind, JobHandler>> = {
    step: stepHandler(attempts),
    wake: wakeHandler(shared),
    decided: decidedHandler(shared),
    event: eventHandler({ ...shared, events: read.events }),
    child_done: childDoneHandler(shared),
    finish: finishHandler(shared),
    undo: undoHandler(attempts),
    cancel: cancelHandler(shared),
    run_timeout: runTimeoutHandler(shared),
    on_failure: onFailureHandler(shared),
    notify: notifyHandler(messages),
    announce: announceHandler(messages),
    remind: remindHandler(shared),
    escalate: escalateHandler(shared),
  };
  const starting = {
    context,
    read,
    runs,
    transaction,
    prepareRun,
    parse,
    log,
    policy: engine.schedulePolicy,
  };
  return {
    scheduler: scheduler(starting),
    backfiller: backfiller(starting),
    backtester: backtester({ ...starting, planOf: shared.planOf }),
    bulkRunner: bulkRunner({
      ...starting,
      read,
      standing: read.users && { users: read.users, projects: read.projects, apiKeys: read.apiKeys },
      planRetry: retryPlanner(read, engine, stepTypes),
    }),
    triggerDeliveries: deliveryStarter({
      context,
      read,
      transaction,
      prepareRun,
      evaluator: expressions,
      log,
    }),
    handler: (job, jobContext) => kinds[job.kind](job, jobContext),
    onUnexpectedError: onUnexpectedError(context, runs),
    close: () => expressions.close(),
  };
}

/** Prepares the run that a `workflow` step starts. @throws StepError too_deep, child_failed */
const prepareChildRun =
  ({ spans }: RunContext, prepareRun: PrepareRun): StepHandlerOptions["prepareChildRun"] =>
  async (run, job, { workflow, inputs }) => {
    if (run.depth + 1 > MAX_CALL_DEPTH) {
      throw new StepError("too_deep", `Workflows already call each other ${MAX_CALL_DEPTH} levels deep.`, {
        fix: "Look for workflows that call each other in a cycle.",
      });
    }
    try {
      return await prepareRun({
        workflowId: workflow,
        caller: null,
        inputs,
        actor: run.actor,
        causes: run.causes,
        trigger: "workflow",
        depth: run.depth + 1,
        pins: run.pins,
        ...lowPriority(run),
        calledFrom: run.project,
        // What a trial starts is a trial, so it has no effects either.
        ...(run.isTrial && { trial: { given: {} } }),
        parent: { runId: run.id, stepId: job.stepId, item: job.item },
        trace: spans.childTrace(run, { ref: job, attempt: job.attempt }),
      });
    } catch (error) {
      if (!(error instanceof AppError) || isStorageUnavailable(error)) throw error;
      throw new StepError("child_failed", error.message, {
        transient: false,
        details: { code: error.code, errors: error.details.errors?.slice(0, 20) },
        cause: error,
      });
    }
  };
