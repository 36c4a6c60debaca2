/** The engine put together: what listeners need to take runs in, and what executors need to carry them out. */
import type { Logger } from "pino";
import type { Fault } from "../../schemas/problem.ts";
import type { Definition } from "../../schemas/workflow-definition.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { Clock } from "../core/clock.ts";
import type { Connections } from "../core/connections.ts";
import { AppError, isStoreTrouble } from "../core/errors.ts";
import type { WorkflowReader } from "../core/ports.ts";
import type {
  EngineReaders,
  EngineTransaction,
  Job,
  JobKind,
  RunReader,
  RunRecord,
} from "../core/run-ports.ts";
import { ANY } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import type { AnyStepType } from "../core/step-type.ts";
import type { Broken, Work } from "../queue/types.ts";
import { brokenJob } from "./broken-job.ts";
import { type Checker, checker, type Report, type WorkflowLookup } from "./check/index.ts";
import { definitionSchema } from "./definition-schema.ts";
import { cancelWork, finishWork, notifyWork, onFailureWork, runTimeoutWork } from "./end-of-run.ts";
import { childDoneWork, decidedWork, wakeWork } from "./end-of-wait.ts";
import { type DefinitionRef, outlines } from "./outline.ts";
import { planner } from "./plan.ts";
import { MAX_DEPTH, type PrepareRun, prepareRun } from "./prepare-run.ts";
import { type Scheduler, scheduler } from "./schedules.ts";
import { scopes } from "./scope.ts";
import type { Mover } from "./transitions.ts";
import { stepWork, type WorkOptions } from "./work.ts";

export interface EngineOptions {
  /** How many runs may be unfinished before schedules make no more. */
  mostUnfinished: number;
  stepTypes: readonly AnyStepType[];
  connections: Connections;
  read: EngineReaders & { workflows: WorkflowReader };
  transaction: EngineTransaction;
  clock: Clock;
  log: Logger;
}

export interface Engine {
  mover: Mover;
  checker: Checker;
  prepareRun: PrepareRun;
  /** A definition without faults, defaults filled in. */
  parse(definition: Record<string, unknown>): Definition;
  scheduler: Scheduler;
  /** What an executor does with a job. */
  work: Work;
  /** What becomes of a job that failed as none should, so that it is not tried for ever. */
  broken: Broken;
}

export function engine({
  stepTypes,
  connections,
  read,
  transaction,
  clock,
  log,
  mostUnfinished,
}: EngineOptions): Engine {
  const { runs } = read;
  const schema = definitionSchema(stepTypes);
  const parse = (definition: Record<string, unknown>): Definition => schema.parse(definition);
  const mover: Mover = { clock, outlines: outlines(parse, stepTypes, connections) };
  const check: Checker = checker({
    stepTypes,
    connections,
    clock,
    workflows: lookup(read.workflows, runs, (definition, selfId) =>
      check.check(definition, { bind: false, selfId }),
    ),
  });
  const prepare = prepareRun({
    workflows: read.workflows,
    runs,
    outlines: mover.outlines,
    faultsOf: keptFaults(check, runs),
  });
  const plan = planner(stepTypes);
  const planOf = async (run: RunRecord) => plan(await mover.outlines.of(run, runs));
  const shared = {
    mover,
    runs,
    planOf,
    scopes: scopes(runs),
    connections,
    approvals: read.approvals,
    prepareRun: prepare,
    mailer: connections.mailer,
    log,
  };
  const kinds: Readonly<Record<JobKind, Work>> = {
    step: stepWork({ ...shared, child: childOf(prepare) }),
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
    mover,
    checker: check,
    prepareRun: prepare,
    parse,
    scheduler: scheduler({ mover, read, runs, transaction, prepareRun: prepare, parse, log, mostUnfinished }),
    work: (job: Job, holding) => kinds[job.kind](job, holding),
    broken: brokenJob(mover, runs),
  };
}

const CANDIDATES = 200;

/** What the checker asks of other workflows: what their runs take and give. */
const lookup = (
  workflows: WorkflowReader,
  runs: Pick<RunReader, "versionDefinition">,
  check: (definition: Record<string, unknown>, selfId: string) => Promise<Report>,
): WorkflowLookup => ({
  async workflow(id) {
    const found = await workflows.find(id);
    if (found === undefined || found.status === "archived") return undefined;
    const version = found.published_version ?? found.version;
    const definition = await runs.versionDefinition(id, version);
    if (definition === null) return { inputs: null, output: ANY };
    const inputs = (definition["inputs"] ?? null) as Record<string, unknown> | null;
    return { inputs, output: (await check(definition, id)).output_shape };
  },
  workflowIds: () => workflows.someIds(CANDIDATES),
});

/** As many checked definitions are remembered. */
const KEPT = 500;

/**
 * The faults that a definition has in itself. What it is bound to is checked when it is saved and published; when it
 * runs, a database that is away for a moment is a matter for `retry`, not a reason to refuse.
 */
function keptFaults(
  check: Checker,
  runs: Pick<RunReader, "versionDefinition">,
): (ref: DefinitionRef) => Promise<readonly Fault[]> {
  const known = new Map<string, readonly Fault[]>();
  return async ({ workflowId, version, definition }) => {
    // Versions never change; what a retry was given for itself is known by its text.
    const key = definition === null ? `${workflowId}@${version}` : canonicalJson([workflowId, definition]);
    const found = known.get(key);
    if (found !== undefined) return found;
    const { errors } = await check.check(definition ?? (await runs.versionDefinition(workflowId, version)), {
      bind: false,
      selfId: workflowId,
    });
    if (known.size >= KEPT) known.delete(known.keys().next().value!);
    known.set(key, errors);
    return errors;
  };
}

/** Makes the run ready that a `workflow` step asks for. */
const childOf =
  (prepare: PrepareRun): WorkOptions["child"] =>
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
