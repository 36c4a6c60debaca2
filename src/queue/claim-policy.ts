/** Decides what an executor claims next: how many jobs, in whose turn, and quarantined jobs in isolation. */
import { type Clock, SECOND } from "../core/clock.ts";
import type { ClaimOptions, QuarantinePolicy } from "../core/job-ports.ts";
import { type Job, STOP_PRIORITY } from "../core/model.ts";

/** Maximum number of owners whose last workflow is remembered. */
const MAX_OWNERS = 10_000;
/**
 * How long other jobs wait for an isolated job, in milliseconds. One that runs longer counts as isolated to its end, but
 * must not keep the executor from the jobs of others.
 */
const MAX_ISOLATION_MS = 10 * SECOND;
/** How long other jobs wait for an executor to become free for a quarantined job, in milliseconds. */
const MAX_DRAIN_MS = 10 * SECOND;

export interface ClaimPolicy {
  /** The options of the next claim, beside the jobs that are running; undefined to claim nothing. */
  next(
    running: readonly Job[],
  ): Required<Pick<ClaimOptions, "limit" | "held" | "turns" | "quarantined">> | undefined;
  /** Records the jobs of a claim, before the next one. */
  record(claimed: readonly Job[]): void;
}

/** @param slots maximum number of jobs that run at the same time, besides those that stop work */
export function claimPolicy(slots: number, clock: Clock): ClaimPolicy {
  /** After a quarantined job the others get a turn, so that many quarantined jobs don't block them. */
  let othersFirst = false;
  let quarantined: QuarantinePolicy = "isolate";
  /** When the last isolated job was claimed. */
  let isolatedAt = -Infinity;
  /** Since when the executor has claimed nothing so that it becomes free. */
  let drainingSince: number | undefined;
  let owner = "";
  const workflows = new Map<string, string>();

  /** Whether less time has passed; a clock that was set back ends a period, and does not prolong it. */
  const isWithin = (since: number, ms: number): boolean => Math.abs(clock.now() - since) < ms;

  function quarantinePolicy(running: readonly Job[]): QuarantinePolicy {
    if (running.length === 0) drainingSince = undefined;
    if (othersFirst) return "skip";
    if (running.length === 0) return "isolate";
    return isWithin(drainingSince ?? clock.now(), MAX_DRAIN_MS) ? "drain" : "beside";
  }

  return {
    next(running) {
      if (isWithin(isolatedAt, MAX_ISOLATION_MS) && running.some((job) => job.quarantined)) return undefined;
      const held = new Map<string, number>();
      const working = running.filter(({ priority }) => priority !== STOP_PRIORITY);
      for (const { subject } of working) held.set(subject, (held.get(subject) ?? 0) + 1);
      quarantined = quarantinePolicy(running);
      return { limit: slots - working.length, held, turns: { owner, workflows }, quarantined };
    },
    record(claimed) {
      othersFirst = claimed.some((job) => job.quarantined);
      if (othersFirst && quarantined === "isolate") isolatedAt = clock.now();
      if (quarantined === "drain") {
        const isWaiting = claimed.every(({ priority }) => priority === STOP_PRIORITY);
        drainingSince = isWaiting ? (drainingSince ?? clock.now()) : undefined;
      }
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
