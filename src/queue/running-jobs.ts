/** Keeps track of the jobs that an executor is running, and aborts them. */
import type { Job, RunStop } from "../core/model.ts";
import type { RunReader } from "../core/run-ports.ts";
import { StepError } from "../core/step-errors.ts";

/** `continued` when the job has passed its slot on to the only next one of its run: nothing has become free, or ready. */
export type JobEnd = "continued" | "ended";

export interface RunningJobs {
  jobs(): Job[];
  /** Whether the job runs under this claim. */
  has(claim: Pick<Job, "id" | "fence">): boolean;
  /** Runs a job in the background. @param run resolves when the job has ended; it must not reject */
  add(job: Job, run: (signal: AbortSignal) => Promise<JobEnd>): void;
  /** Aborts the steps of runs that were stopped. */
  abortStopped(runs: Pick<RunReader, "getStatusSummaries">): Promise<void>;
  abortAll(reason: StepError): void;
  /** Resolves when all jobs that run now have ended. */
  ended(): Promise<void>;
}

/** @param onFree called when a job has ended and its slot, or the place of its resource, is free */
export function runningJobs(onFree: () => void): RunningJobs {
  // A job can be claimed again while the end of an earlier claim is still being recorded.
  const entries = new Map<string, { job: Job; controller: AbortController; ended: Promise<void> }>();

  async function runToEnd(job: Job, running: Promise<JobEnd>): Promise<void> {
    const end = await running;
    entries.delete(keyOf(job));
    if (end === "ended" || job.resource !== null) onFree();
  }

  return {
    jobs: () => [...entries.values()].map(({ job }) => job),

    has: (claim) => entries.has(keyOf(claim)),

    add(job, run) {
      const controller = new AbortController();
      const entry = { job, controller, ended: Promise.resolve() };
      entries.set(keyOf(job), entry);
      entry.ended = runToEnd(job, run(controller.signal));
    },

    async abortStopped(runs) {
      const runIds = [...new Set([...entries.values()].map(({ job }) => job.runId))];
      if (runIds.length === 0) return;
      for (const { id, stop } of await runs.getStatusSummaries(runIds)) {
        if (stop === null) continue;
        for (const { job, controller } of entries.values()) {
          if (job.runId === id && job.kind === "step") controller.abort(stopError(stop));
        }
      }
    },

    abortAll(reason) {
      for (const { controller } of entries.values()) controller.abort(reason);
    },

    async ended() {
      await Promise.all([...entries.values()].map(({ ended }) => ended));
    },
  };
}

const keyOf = ({ id, fence }: Pick<Job, "id" | "fence">): string => `${id}/${fence}`;

const stopError = (stop: RunStop): StepError =>
  stop.status === "cancelled"
    ? new StepError("cancelled", "The run was cancelled.")
    : new StepError("cancelled", `The run was stopped: ${stop.error.message}`);
