/**
 * Finds the jobs that an executor has claimed without knowing it: the claim was committed, and its answer was lost with the
 * connection. Nobody else reclaims the jobs of an executor that lives, so they would wait for its end.
 */
import type { Logger } from "pino";
import type { JobReader } from "../core/job-ports.ts";
import type { Committer } from "./committer.ts";
import type { RunningJobs } from "./running-jobs.ts";

interface Options {
  executor: string;
  jobs: Pick<JobReader, "claimedBy">;
  running: Pick<RunningJobs, "has">;
  commit: Committer["commit"];
  log: Pick<Logger, "warn">;
}

export interface LostClaims {
  /** Does what may claim jobs and begins to run them. Until it has ended, its claims do not count as lost. */
  during<T>(claiming: () => Promise<T>): Promise<T>;
  /** Compares the claims in the database with the jobs that run, and makes ready again what does not. */
  release(): Promise<void>;
}

export function lostClaims({ executor, jobs, running, commit, log }: Options): LostClaims {
  const open = new Set<Promise<unknown>>();

  async function release(): Promise<void> {
    const unknown = (await jobs.claimedBy(executor)).filter((claim) => !running.has(claim));
    if (unknown.length === 0) return;
    // The answer of a claim that was committed before it was read may still arrive.
    await Promise.allSettled(open);
    const lost = unknown.filter((claim) => !running.has(claim));
    if (lost.length === 0) return;
    // What has ended meanwhile has another fence, or no row.
    const count = await commit((tx) => tx.jobs.releaseLost(executor, lost));
    if (count > 0) log.warn({ jobs: count }, "the answer of a claim was lost, jobs released");
  }

  let releasing: Promise<void> | undefined;
  return {
    during(claiming) {
      const claimed = claiming();
      open.add(claimed);
      const close = (): void => void open.delete(claimed);
      claimed.then(close, close);
      return claimed;
    },
    release: () => (releasing ??= release().finally(() => (releasing = undefined))),
  };
}
