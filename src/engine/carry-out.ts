/** What executors add to the engine: doing jobs, and making scheduled runs. */
import type { Logger } from "pino";
import { AppError, isStoreTrouble } from "../core/errors.ts";
import type { EngineTransaction, JobKind, RunRecord } from "../core/run-ports.ts";
import { StepError } from "../core/step-errors.ts";
import type { Broken, Work } from "../queue/types.ts";
import type { Allowances } from "./allowances.ts";
import { brokenJob } from "./broken-job.ts";
import { cancelWork, finishWork, notifyWork, onFailureWork, runTimeoutWork } from "./end-of-run.ts";
import { childDoneWork, decidedWork, wakeWork } from "./end-of-wait.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import { planner } from "./plan.ts";
import { MAX_DEPTH, type PrepareRun } from "./prepare-run.ts";
import { type Scheduler, scheduler } from "./schedules.ts";
import { scopes } from "./scope.ts";
import type { Mover } from "./transitions.ts";
import { stepWork, type WorkOptions } from "./work.ts";

interface CarryOutOptions extends Pick<EngineOptions, "stepTypes" | "connections" | "read"> {
  engine: Engine;
  transaction: EngineTransaction;
  log: Logger;
  allowances: Allowances;
  /** How many runs may be unfinished before schedules make no more. */
  mostUnfinished: number;
}

export interface CarryOut {
  scheduler: Scheduler;
  /** What an executor does with a job. */
  work: Work;
  /** What becomes of a job that failed as none should, so that it is not tried for ever. */
  broken: Broken;
}

export function carryOut({
  engine,
  stepTypes,
  connections,
  read,
  transaction,
  log,
  allowances,
  mostUnfinished,
}: CarryOutOptions): CarryOut {
  const { runs } = read;
  const { mover, prepareRun, parse } = engine;
  const plan = planner(stepTypes);
  const shared = {
    mover,
    runs,
    planOf: async (run: RunRecord) => plan(await mover.outlines.of(run, runs)),
    scopes: scopes(runs),
    connections,
    allowances,
    approvals: read.approvals,
    prepareRun,
    mailer: connections.mailer,
    log,
  };
  const kinds: Readonly<Record<JobKind, Work>> = {
    step: stepWork({ ...shared, child: childOf(mover, prepareRun) }),
    wake: wakeWork(shared),
    decided: decidedWork(shared),
    child_done: childDoneWork(shared),
    finish: finishWork(shared),
    cancel: cancelWork(shared),
    run_timeout: runTimeoutWork(shared),
    on_failure: onFailureWork(shared),
    notify: notifyWork(shared),
  };
  return {
    scheduler: scheduler({ mover, read, runs, transaction, prepareRun, parse, log, mostUnfinished }),
    work: (job, holding) => kinds[job.kind](job, holding),
    broken: brokenJob(mover, runs),
  };
}

/** Makes the run ready that a `workflow` step asks for. */
const childOf =
  ({ spans }: Mover, prepare: PrepareRun): WorkOptions["child"] =>
  async (run, job, { workflow, inputs }) => {
    if (run.depth + 1 > MAX_DEPTH) {
      throw new StepError("too_deep", `Workflows call each other ${MAX_DEPTH} deep already.`, {
        fix: "Look for workflows that call each other in a circle.",
      });
    }
    try {
      return await prepare({
        workflowId: workflow,
        inputs,
        actor: run.actor,
        trigger: "workflow",
        depth: run.depth + 1,
        parent: { runId: run.id, stepId: job.stepId, item: job.item },
        trace: spans.below(run, { unit: job, attempt: job.attempt }),
      });
    } catch (error) {
      if (!(error instanceof AppError) || isStoreTrouble(error)) throw error;
      throw new StepError("child_failed", error.message, {
        transient: false,
        details: { code: error.code, errors: error.details.errors?.slice(0, 20) },
        cause: error,
      });
    }
  };
