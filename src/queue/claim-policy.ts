/** Decides what an executor claims next: how many jobs, in whose turn, and quarantined jobs in isolation. */
import type { ClaimOptions } from "../core/job-ports.ts";
import { type Job, STOP_PRIORITY } from "../core/model.ts";

/** Maximum number of owners whose last workflow is remembered. */
const MAX_OWNERS = 10_000;

export interface ClaimPolicy {
  /** The options of the next claim, beside the jobs that are running; undefined to claim nothing. */
  next(
    running: readonly Job[],
  ): Required<Pick<ClaimOptions, "limit" | "held" | "turns" | "quarantined">> | undefined;
  /** Records the jobs of a claim, before the next one. */
  record(claimed: readonly Job[]): void;
}

/** @param slots maximum number of jobs that run at the same time, besides those that stop work */
export function claimPolicy(slots: number): ClaimPolicy {
  /** After a quarantined job the others get a turn, so that many quarantined jobs don't block them. */
  let othersFirst = false;
  let owner = "";
  const workflows = new Map<string, string>();
  return {
    next(running) {
      if (running.some(({ quarantined }) => quarantined)) return undefined;
      const held = new Map<string, number>();
      const working = running.filter(({ priority }) => priority !== STOP_PRIORITY);
      for (const { subject } of working) held.set(subject, (held.get(subject) ?? 0) + 1);
      return {
        limit: slots - working.length,
        held,
        turns: { owner, workflows },
        quarantined: othersFirst ? "skip" : running.length === 0 ? "isolate" : "drain",
      };
    },
    record(claimed) {
      othersFirst = claimed.some(({ quarantined }) => quarantined);
      for (const { subject, workflowId } of claimed) {
        owner = subject;
        // The map keeps the owners in the order of their last turn.
        workflows.delete(subject);
        workflows.set(subject, workflowId);
      }
      for (const longestAgo of workflows.keys()) {
        if (workflows.size <= MAX_OWNERS) break;
        workflows.delete(longestAgo);
      }
    },
  };
}
