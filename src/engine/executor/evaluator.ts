/**
 * Evaluates the expressions of runs. Cheap ones are evaluated at once. One that needs more work than the event loop has time
 * for is evaluated again from the start in a thread, which is safe because expressions have no effects. Owners take turns
 * at the threads, so that the heavy expressions of one delay those of another by one evaluation only.
 */
import { availableParallelism } from "node:os";
import { MINUTE, SECOND } from "../../core/clock.ts";
import { StepError } from "../../core/step-errors.ts";
import { ThreadError, workerFile, type WorkerThreads, workerThreads } from "../../core/worker-thread.ts";
import {
  type Compiled,
  ExpressionError,
  isWorkExceeded,
  MAX_INLINE_COST,
  type Scope,
} from "../definition/expressions/index.ts";
import type { EvaluationResult, EvaluationTask } from "./expression-thread.ts";
import { objectKeys, partsOf, writeSent } from "./scope-transfer.ts";

/** Maximum heap of a thread, in MiB. */
const MEMORY_MB = 512;
/**
 * Maximum processor time of an evaluation in a thread. It is ten times what the work of an expression is limited to, so only
 * an operation whose work was estimated far too low reaches it.
 */
const CPU_MS = 10 * SECOND;
/** Maximum time of an evaluation in a thread, with its waiting: then the machine is too busy. */
const WALL_MS = MINUTE;

/** Evaluates an expression. @throws StepError */
export type Evaluate = (expression: Compiled, scope: Scope) => Promise<unknown>;

export interface Evaluator {
  /**
   * Returns the function that evaluates the expressions of one job. Together they have the work that is done on the event
   * loop.
   * @param owner who caused the run
   * @param signal ends an evaluation in a thread, which then rejects with its reason
   */
  forJob(owner: string, signal?: AbortSignal): Evaluate;
  /**
   * Returns a function that evaluates on the event loop only, with the work of one job. It throws an ExpressionError for what
   * needs more.
   */
  inline(): Evaluate;
  /** Ends the threads. */
  close(): Promise<void>;
}

type Threads = WorkerThreads<EvaluationTask, EvaluationResult>;

const startThreads = (): Threads =>
  workerThreads({
    file: workerFile("expression-thread", import.meta.url),
    // One processor is left for the event loop.
    threads: availableParallelism() > 2 ? 2 : 1,
    memoryMb: MEMORY_MB,
    cpuMs: CPU_MS,
    wallMs: WALL_MS,
    // The slots of the executor limit how many wait.
    maxWaitingPerOwner: Infinity,
  });

/** @param maxInlineCost maximum work of the expressions of a job on the event loop */
export function evaluator({
  threads = startThreads(),
  maxInlineCost = MAX_INLINE_COST,
}: { threads?: Threads; maxInlineCost?: number } = {}): Evaluator {
  const keyOf = objectKeys();
  /** Expressions that needed a thread the last time. Another attempt on the event loop would only be lost time. */
  const heavy = new WeakSet<Compiled>();

  async function evaluateInThread(
    expression: Compiled,
    scope: Scope,
    owner: string,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { parts, objects } = partsOf(expression, scope, keyOf);
    let result: EvaluationResult;
    try {
      result = await threads.run(
        { origin: expression.origin, parts },
        { owner, signal, answer: (key) => writeSent(objects.get(key as number)!) },
      );
    } catch (error) {
      throw error instanceof ThreadError ? threadFailure(error) : error;
    }
    if ("error" in result) {
      const { code, message, summary, options } = result.error;
      throw new ExpressionError(code, message, summary, options);
    }
    if (result.cost <= maxInlineCost) heavy.delete(expression);
    return JSON.parse(result.value);
  }

  return {
    forJob(owner, signal) {
      let remaining = maxInlineCost;
      return async (expression, scope) => {
        if (!heavy.has(expression)) {
          try {
            const { value, cost } = expression.measure(scope, remaining);
            remaining -= cost;
            return value;
          } catch (error) {
            if (!(error instanceof ExpressionError && isWorkExceeded(error))) throw error;
          }
          // Otherwise the expressions before it have used up the work of the job.
          if (remaining === maxInlineCost) heavy.add(expression);
        }
        const value = await evaluateInThread(expression, scope, owner, signal);
        // The event loop has had its turn.
        remaining = maxInlineCost;
        return value;
      };
    },

    inline() {
      let remaining = maxInlineCost;
      return async (expression, scope) => {
        const { value, cost } = expression.measure(scope, heavy.has(expression) ? 0 : remaining);
        remaining -= cost;
        return value;
      };
    },

    close: () => threads.close(),
  };
}

function threadFailure({ reason }: ThreadError): StepError {
  switch (reason) {
    case "memory_limit":
      return new StepError("memory_limit", `The expression needed more than ${MEMORY_MB} MiB of memory.`, {
        fix: "Move the heavy part into a sql step, or process fewer rows.",
      });
    case "cpu_limit":
      return new StepError(
        "expression_limit",
        `The expression needed more than ${CPU_MS / SECOND} s of processor time.`,
        {
          fix: "Move the heavy part into a sql step, or process fewer rows.",
          details: { bound: "processor_time", limit: CPU_MS / SECOND },
          transient: true,
        },
      );
    default:
      return new StepError(
        "machine_busy",
        `The expression was not evaluated within ${WALL_MS / SECOND} s, because the machine is busy.`,
      );
  }
}
