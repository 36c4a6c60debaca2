/** Decides which jobs an executor claims next: one for each free slot, and quarantined jobs in isolation. */
import type { ClaimOptions } from "../core/job-ports.ts";
import type { Job } from "../core/model.ts";

export interface ClaimPolicy {
  /** The options of the next claim, beside the jobs that are running; undefined to claim nothing. */
  next(running: readonly Job[]): Pick<ClaimOptions, "limit" | "quarantined"> | undefined;
  /** Records the jobs of a claim, before the next one. */
  record(claimed: readonly Job[]): void;
}

/** @param slots maximum number of jobs that run at the same time */
export function claimPolicy(slots: number): ClaimPolicy {
  /** After a quarantined job the others get a turn, so that many quarantined jobs don't block them. */
  let othersFirst = false;
  return {
    next(running) {
      const limit = slots - running.length;
      if (limit <= 0 || running.some(({ quarantined }) => quarantined)) return undefined;
      return { limit, quarantined: othersFirst ? "skip" : running.length === 0 ? "isolate" : "drain" };
    },
    record(claimed) {
      othersFirst = claimed.some(({ quarantined }) => quarantined);
    },
  };
}
