/** Sends heartbeats, and reclaims the jobs of executors that miss theirs. */
import type { Logger } from "pino";
import { type Clock, iso } from "../core/clock.ts";
import type { ExecutorRecord, JobReader } from "../core/job-ports.ts";
import type { Meter } from "../core/meter.ts";
import type { Committer } from "./committer.ts";
import type { InterruptAttempts } from "./types.ts";

interface LeaseOptions {
  executor: string;
  /** How long an executor may miss its heartbeats before its jobs are reclaimed, in milliseconds. */
  leaseMs: number;
  jobs: Pick<JobReader, "executors">;
  commit: Committer["commit"];
  interruptAttempts: InterruptAttempts;
  clock: Clock;
  log: Logger;
  meter: Pick<Meter, "jobsReclaimed">;
}

export interface Leases {
  /** Sends a heartbeat, then reclaims the jobs of executors whose lease has expired. */
  heartbeat(): Promise<void>;
}

export function leases(options: LeaseOptions): Leases {
  const { executor, leaseMs, jobs, commit, clock } = options;
  /** The last heartbeat of each other executor, and when it was first seen, by the monotonic clock of this process. */
  const observed = new Map<string, { heartbeats: number; since: number }>();
  let lastHeartbeat = performance.now();

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
      await commit((tx) => tx.jobs.heartbeat(executor, iso(clock.now())));
      const now = performance.now();
      // If our own heartbeat was late, because of a lock or a full disk, we can't judge the others'.
      if (now - lastHeartbeat > leaseMs / 2) observed.clear();
      lastHeartbeat = now;
      const present = await jobs.executors();
      for (const id of observed.keys()) if (!present.some((record) => record.id === id)) observed.delete(id);
      for (const record of present) {
        if (record.id === executor) continue;
        const last = observed.get(record.id);
        if (last === undefined || last.heartbeats !== record.heartbeats) {
          observed.set(record.id, { heartbeats: record.heartbeats, since: now });
        } else if (now - last.since >= leaseMs) {
          observed.delete(record.id);
          await reclaim(record);
        }
      }
    },
  };
}
