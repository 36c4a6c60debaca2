/** Sends heartbeats, and reclaims the jobs of executors that miss theirs. */
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { type Clock, iso } from "../core/clock.ts";
import type { ClockCheck } from "../core/clock-check.ts";
import type { ExecutorRecord, JobReader } from "../core/job-ports.ts";
import type { Meter } from "../core/meter.ts";
import type { Job } from "../core/model.ts";
import type { Committer } from "./committer.ts";
import type { InterruptAttempts } from "./types.ts";

/** How long a heartbeat waits for the measurement of the clock, in milliseconds. */
const MAX_MEASURING_MS = 1_000;

interface LeaseOptions {
  executor: string;
  /** How long an executor may miss its heartbeats before its jobs are reclaimed, in milliseconds. */
  leaseMs: number;
  jobs: Pick<JobReader, "executors">;
  /** The jobs that this executor runs now. */
  running(): readonly Job[];
  commit: Committer["commit"];
  interruptAttempts: InterruptAttempts;
  clock: Clock;
  clockCheck?: ClockCheck | undefined;
  log: Logger;
  meter: Pick<Meter, "jobsReclaimed">;
}

export interface Leases {
  /** Sends a heartbeat, compares the clocks, then reclaims the jobs of executors whose lease has expired. */
  heartbeat(): Promise<void>;
}

export function leases(options: LeaseOptions): Leases {
  const { executor, leaseMs, jobs, commit, clock, clockCheck } = options;
  /** The last heartbeat of each other executor, and when it was first seen, by the monotonic clock of this process. */
  const observed = new Map<string, { heartbeats: number; since: number }>();
  let lastHeartbeat = performance.now();

  function observe(others: readonly ExecutorRecord[], now: number): void {
    for (const id of observed.keys()) if (!others.some((record) => record.id === id)) observed.delete(id);
    for (const { id, heartbeats } of others)
      if (observed.get(id)?.heartbeats !== heartbeats) observed.set(id, { heartbeats, since: now });
  }

  async function reclaim(dead: ExecutorRecord): Promise<void> {
    const count = await commit(async (tx) => {
      const reclaimed = await tx.jobs.reclaim(dead.id, dead);
      if (reclaimed !== undefined) await options.interruptAttempts(tx, dead.id);
      return reclaimed;
    });
    if (count === undefined) return;
    options.meter.jobsReclaimed("lease", count);
    options.log.warn({ dead_executor: dead.id, jobs: count }, "lease expired, jobs reclaimed");
  }

  return {
    async heartbeat() {
      // Other executors must not miss the heartbeat because the clock can't be read.
      const offset =
        clockCheck &&
        (await Promise.race([clockCheck.measure(), delay(MAX_MEASURING_MS, undefined, { ref: false })]));
      await commit((tx) =>
        tx.jobs.heartbeat(executor, iso(clock.now()), { clockOffset: offset, running: options.running() }),
      );
      const now = performance.now();
      // If our own heartbeat was late, because of a lock or a full disk, we can't judge the others'.
      if (now - lastHeartbeat > leaseMs / 2) observed.clear();
      lastHeartbeat = now;
      const others = (await jobs.executors()).filter(({ id }) => id !== executor);
      observe(others, now);
      const unchangedFor = ({ id }: ExecutorRecord): number => now - observed.get(id)!.since;
      // What an executor measured before it ended says nothing about the clocks of now.
      clockCheck?.compare(
        offset,
        others.filter((record) => unchangedFor(record) <= leaseMs / 2),
      );
      for (const record of others.filter((other) => unchangedFor(other) >= leaseMs)) {
        observed.delete(record.id);
        await reclaim(record);
      }
    },
  };
}
