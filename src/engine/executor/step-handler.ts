/** What an executor does with a job: everything that is evaluated or called happens here, outside of transactions. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { AttemptStatus, RunError } from "../../../schemas/run.ts";
import { canonicalJson } from "../../core/canonical-json.ts";
import { iso, SECOND } from "../../core/clock.ts";
import { isStorageUnavailable } from "../../core/errors.ts";
import type { Connections, Usage } from "../../core/connections.ts";
import { durationMs } from "../../core/duration.ts";
import type { PreparedRun } from "../../core/engine-port.ts";
import { issuesOf } from "../../core/issues.ts";
import { type AttemptOutcome, secondsSince } from "../../core/meter.ts";
import { type EngineWriters, type Job, type RunReader, type RunRecord } from "../../core/run-ports.ts";
import { StepError } from "../../core/step-errors.ts";
import type { AnyStepType, Field, StepOutcome } from "../../core/step-type.ts";
import type { JobContext, JobResult, JobHandler } from "../../queue/types.ts";
import type { UsageLimits } from "./usage-limits.ts";
import { type Plan, type PlannedStep, resolveFields } from "../definition/plan.ts";
import type { ExpressionScopes } from "./expression-scopes.ts";
import { cacheKey, recordedOutput } from "./recorded-output.ts";
import { toRunError } from "../run-state/run-error.ts";
import { recordAttemptStart, recordOutcome, type StepResult } from "../run-state/record-outcome.ts";
import { attemptOutcome, reportAttempt } from "./report-attempt.ts";
import { isEnding, type RunContext, endIfStopping } from "../run-state/transitions.ts";
import { assertOutputSize, validateItems, toCondition } from "./step-values.ts";

/** Executors that may die of a job before it counts as poison. */
export const MAX_CRASHES = 3;
/** What a timer can carry: 24 days. A longer time-out ends there. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Their time is a job in the future: the attempt itself is over at once. */
const WAITING_TYPES: ReadonlySet<string> = new Set(["approval", "workflow"]);
/** What does not end when it is told to is left behind after so long. */
const UNRESPONSIVE_MS = 2 * SECOND;

export interface StepHandlerOptions {
  context: RunContext;
  runs: RunReader;
  connections: Connections;
  planOf(run: RunRecord): Promise<Plan>;
  scopes: ExpressionScopes;
  usageLimits: UsageLimits;
  /** Makes ready the run of another workflow. @throws StepError */
  prepareChildRun(
    run: RunRecord,
    job: Job,
    wanted: Extract<StepOutcome, { kind: "child" }>,
  ): Promise<PreparedRun>;
}

/** An attempt as it goes on. */
interface Attempt {
  run: RunRecord;
  job: Job;
  planned: PlannedStep;
  startedAt: string;
  /** Known once it is resolved. */
  input?: Record<string, unknown>;
  inputHash?: string;
  /** Whether it was recorded, with its input, before it ran; false where it may not run. */
  begun?: boolean;
  /** When its code began to run, by the monotonic clock. */
  ranAt?: number;
  /** What it has used, however it ends. */
  usage?: Usage | undefined;
  rows?: number | undefined;
}

/** Does the jobs of kind `step`: one attempt of a step or of an item. */
export function stepHandler(options: StepHandlerOptions): JobHandler {
  const { context, runs } = options;
  const inputSchemas = new WeakMap<AnyStepType, z.ZodObject>();

  return async (job, holding) => {
    const run = await runs.find(job.runId);
    if (run === undefined || run.finishedAt !== null) return noChange();
    const plan = await options.planOf(run);
    const planned = plan.steps[plan.compiled.position.get(job.stepId)!]!;
    const attempt: Attempt = { run, job, planned, startedAt: iso(context.clock.now()) };
    try {
      if (isEnding(run)) throw new StepError("cancelled", "The run is ending.");
      if (job.crashCount >= MAX_CRASHES) throw poisonedError(job.stepId, job.crashCount);
      return settled(attempt, holding, await carryOut(plan, attempt, holding));
    } catch (thrown) {
      // Nothing is wrong with the step: the job is given back.
      if (isStorageUnavailable(thrown)) throw thrown;
      return failed(attempt, holding, thrown);
    }
  };

  async function carryOut(plan: Plan, attempt: Attempt, holding: JobContext): Promise<StepResult> {
    const { run, job, planned } = attempt;
    if (job.item === null && (planned.if !== null || planned.forEach !== null)) {
      const early = await beforeRunning(plan, run, planned);
      if (early !== undefined) return early;
    }
    const scope = await options.scopes.loadScope(plan, run, planned.fieldReads, job);
    attempt.input = parsedInput(planned, resolveFields(planned, scope));
    const resource = plan.compiled.resources[plan.compiled.position.get(job.stepId)!];
    attempt.inputHash = shortHash(canonicalJson([planned.type.type, resource, attempt.input]));
    const recorded = await recordedOutput(runs, attempt, attempt.inputHash, iso(context.clock.now()));
    if (recorded !== undefined) return recorded;
    const spends = planned.type.meteredResource?.(planned.step) ?? null;
    if (spends !== null) await options.usageLimits.assertRemaining(run.actor, spends);
    if (planned.type.instant !== true) {
      const { startedAt, input } = attempt;
      const begin = { attempt: job.attempt, executor: holding.executor, startedAt, input };
      attempt.begun = false;
      await holding.record(async (tx) => {
        attempt.begun = await recordAttemptStart(tx, job, begin);
      });
      if (!attempt.begun) throw new StepError("cancelled", "The run is ending, or another executor has it.");
    }
    attempt.ranAt = performance.now();
    const outcome = await runBounded(attempt, holding);
    if (outcome.kind === "done") {
      attempt.usage = outcome.usage;
      attempt.rows = outcome.rows;
    }
    return resultOf(attempt, outcome);
  }

  /** Whether it is skipped, and over what it fans out. */
  async function beforeRunning(
    plan: Plan,
    run: RunRecord,
    planned: PlannedStep,
  ): Promise<StepResult | undefined> {
    const scope = await options.scopes.loadScope(plan, run, planned.conditionReads);
    if (planned.if !== null && !toCondition(planned.if.evaluate(scope), `if of "${planned.step.id}"`)) {
      return { kind: "skipped" };
    }
    if (planned.forEach === null) return undefined;
    const items = planned.forEach.evaluate(scope);
    return { kind: "fan_out", items: validateItems(planned.step.id, items) };
  }

  function parsedInput({ type }: PlannedStep, resolved: Record<string, unknown>): Record<string, unknown> {
    let schema = inputSchemas.get(type);
    if (schema === undefined) {
      const fields: Readonly<Record<string, Field>> = type.fields;
      schema = z.object(
        Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema])),
      );
      inputSchemas.set(type, schema);
    }
    const parsed = schema.safeParse(resolved, { reportInput: true });
    if (parsed.success) return parsed.data;
    const issues = issuesOf(parsed.error, schema);
    const told = issues.slice(0, 3).map(({ path, message }) => `${path} ${message}`);
    throw new StepError("input_invalid", `${told.join("; ")}.`, { details: { errors: issues.slice(0, 20) } });
  }

  /** Runs the step's code until it ends, its time is up, or it is told to end. */
  async function runBounded(attempt: Attempt, holding: JobContext): Promise<StepOutcome> {
    const { run, job, planned, input, inputHash } = attempt;
    const timeout = new AbortController();
    const limit =
      planned.type.timeoutMs === null && planned.step.timeout === undefined ? null : planned.timeoutMs;
    const timer =
      limit === null || WAITING_TYPES.has(planned.type.type)
        ? undefined
        : setTimeout(
            () => timeout.abort(timedOut(planned.step.id, limit)),
            Math.min(limit, LONGEST_TIMER_MS),
          );
    const signal = AbortSignal.any([holding.signal, timeout.signal]);
    const left = new Promise<never>((_, reject) => {
      const leave = (): void => {
        setTimeout(() => reject(signal.reason as Error), UNRESPONSIVE_MS).unref();
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });
    try {
      const running = planned.type.run(input as never, {
        connections: options.connections,
        signal,
        idempotencyKey: [run.firstRunId, job.stepId, job.item ?? "-", inputHash].join(":"),
        now: () => context.clock.now(),
        trace: context.spans.propagationHeaders(run, job, job.attempt),
      });
      return await Promise.race([running, left]);
    } catch (thrown) {
      // Whatever the code makes of being told to end: why it was told counts.
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      clearTimeout(timer);
      left.catch(() => {});
    }
  }

  async function resultOf(attempt: Attempt, outcome: StepOutcome): Promise<StepResult> {
    const { run, job, planned } = attempt;
    const inputHash = attempt.inputHash!;
    const now = context.clock.now();
    switch (outcome.kind) {
      case "done": {
        assertOutputSize(planned.step.id, outcome.output);
        const { cacheMs } = planned;
        const cache =
          cacheMs === null
            ? undefined
            : { key: cacheKey(run, job, inputHash), expiresAt: iso(now + cacheMs) };
        return {
          kind: "succeeded",
          output: outcome.output,
          inputHash,
          ...(cache !== undefined && { cache }),
        };
      }
      case "wait":
        return { kind: "wait", until: iso(outcome.until), inputHash };
      case "approval": {
        const { message, form, assignees } = outcome;
        const { timeoutMs } = planned;
        const id = `apr_${shortHash(`${job.runId} ${job.stepId} ${job.item ?? "-"}`)}`;
        const expiresAt = timeoutMs === null ? null : iso(now + timeoutMs);
        return { kind: "approval", approval: { id, message, form, assignees }, expiresAt, inputHash };
      }
      case "child":
        return {
          kind: "child",
          run: await options.prepareChildRun(run, job, outcome),
          inputHash,
          until: planned.timeoutMs === null ? null : iso(now + planned.timeoutMs),
        };
    }
  }

  /** Has it told, once it is committed, what the attempt came to. */
  function teller(
    { run, job, planned, ranAt }: Attempt,
    { executor }: JobContext,
    outcome: AttemptOutcome,
    error: RunError | null = null,
  ): (tx: EngineWriters) => void {
    const ran = ranAt !== undefined && (outcome === "succeeded" || outcome === "failed");
    const seconds = ran ? secondsSince(ranAt) : undefined;
    const { type } = planned.type;
    return (tx) => reportAttempt(context, tx, { run, job, type, executor, outcome, error, seconds });
  }

  function settled(attempt: Attempt, holding: JobContext, result: StepResult): JobResult {
    const { job, startedAt } = attempt;
    const finishedAt = iso(context.clock.now());
    const tell = teller(attempt, holding, attemptOutcome(result));
    const recordSettled = async (tx: EngineWriters): Promise<void> => {
      await spend(tx, attempt);
      const end = { usage: attempt.usage ?? null, error: null };
      // What waits goes on, but in no executor: the job that ends the wait ends the attempt.
      const goesOn = ["wait", "approval", "child"].includes(result.kind);
      await (goesOn
        ? saveAttempt(context, tx, attempt, { executor: null }, { ...end, status: "running" }, null)
        : saveAttempt(context, tx, attempt, holding, { ...end, status: "succeeded" }, finishedAt));
    };
    return {
      kind: "complete",
      async change(tx) {
        tell(tx);
        // Before the run may end with it, which would close what is open as cancelled.
        if (attempt.input !== undefined) await recordSettled(tx);
        await recordOutcome(context, tx, job, result, { startedAt, finishedAt, attempts: job.attempt });
      },
    };
  }

  function spend(tx: EngineWriters, { run, usage, rows }: Attempt): Promise<void> {
    return options.usageLimits.recordUsage(tx, run.actor, {
      ...(usage !== undefined && { model_tokens: usage.input_tokens + usage.output_tokens }),
      ...(rows !== undefined && { rows }),
    });
  }

  function failed(attempt: Attempt, holding: JobContext, thrown: unknown): JobResult {
    const { job, planned, startedAt } = attempt;
    // A step may throw anything; only who holds the job knows whether it was told to end.
    const told = attempt.begun === false || holding.signal.aborted || isEnding(attempt.run);
    const error = told ? toRunError(thrown, job) : asFailure(toRunError(thrown, job));
    if (thrown instanceof StepError) attempt.usage ??= thrown.options.usage;
    const finishedAt = iso(context.clock.now());
    const status =
      error.code === "cancelled" ? "cancelled" : error.code === "interrupted" ? "interrupted" : "failed";
    const tell = teller(attempt, holding, status, error);
    const record = async (tx: EngineWriters): Promise<void> => {
      tell(tx);
      await spend(tx, attempt);
      const end = { status, usage: attempt.usage ?? null, error } as const;
      await saveAttempt(context, tx, attempt, holding, end, finishedAt);
    };
    const recordAndMove = async (tx: EngineWriters): Promise<void> => {
      await record(tx);
      await endIfStopping(context, tx, job.runId);
    };
    if (status === "interrupted") {
      return {
        kind: "retry",
        dueAt: null,
        attempt: job.attempt + 1,
        retryCount: job.retryCount,
        change: recordAndMove,
      };
    }
    const delay = status === "failed" ? retryDelay(planned, job, thrown) : undefined;
    if (delay !== undefined) {
      const dueAt = iso(context.clock.now() + delay);
      return {
        kind: "retry",
        dueAt,
        attempt: job.attempt + 1,
        retryCount: job.retryCount + 1,
        change: recordAndMove,
      };
    }
    const result: StepResult = status === "cancelled" ? { kind: "cancelled" } : { kind: "failed", error };
    return {
      kind: "complete",
      async change(tx) {
        await record(tx);
        await recordOutcome(context, tx, job, result, { startedAt, finishedAt, attempts: job.attempt });
      },
    };
  }
}

/** Writes an attempt down, and reports one that has ended. */
async function saveAttempt(
  { spans }: RunContext,
  tx: EngineWriters,
  { run, job, planned, startedAt, input, begun }: Attempt,
  { executor }: { executor: string | null },
  end: { status: AttemptStatus; usage: Usage | null; error: RunError | null },
  finishedAt: string | null,
): Promise<void> {
  const { attempt } = job;
  await tx.runs.saveAttempt(job, {
    ...end,
    attempt,
    executor,
    startedAt,
    finishedAt,
    ...(begun !== true && { input }),
  });
  if (finishedAt === null) return;
  tx.onCommit(() => spans.recordAttempt(run, planned.step, job, { ...end, attempt, startedAt, finishedAt }));
}

export const noChange = (): JobResult => ({ kind: "complete", change: () => Promise.resolve() });

const asFailure = (error: RunError): RunError =>
  ["cancelled", "interrupted"].includes(error.code) ? { ...error, code: "step_failed" } : error;

export const poisonedError = (what: string, kills: number): StepError =>
  new StepError(
    "poisoned",
    `"${what}" was running alone each of the ${kills} times that its executor died, so it is not tried again.`,
    { fix: "Look for what needs too much memory in it; the log of the executors says how they ended." },
  );

const timedOut = (stepId: string, limit: number): StepError =>
  new StepError("timeout", `"${stepId}" took longer than ${limit / SECOND} s and was stopped.`, {
    fix: "Give it more time with timeout, or less to do.",
  });

const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);

/**
 * After how many milliseconds a failed attempt is repeated; undefined when it is not.
 * The pause doubles (or stays), up to half of it is taken off at random, and a vendor's `Retry-After` goes before.
 */
export function retryDelay(
  { step: { retry } }: PlannedStep,
  job: Pick<Job, "retryCount">,
  thrown: unknown,
): number | undefined {
  if (retry === undefined || job.retryCount + 1 >= retry.attempts || !(thrown instanceof StepError))
    return undefined;
  const wanted = retry.on === undefined ? thrown.transient : retry.on.includes(thrown.code);
  if (!wanted) return undefined;
  const initial = durationMs(retry.initial);
  const growing = retry.backoff === "exponential" ? initial * 2 ** job.retryCount : initial;
  const pause = Math.min(growing, durationMs(retry.max)) * (0.5 + Math.random() / 2);
  return Math.max(pause, thrown.options.retryAfterMs ?? 0);
}
