/**
 * What is counted and timed while the service works, in its own words: `src/telemetry` makes metrics of it. Whatever is
 * given here becomes a label, so it is a word of ours or of the configuration, never an id or what somebody sent.
 */
import type { Surface } from "../../schemas/actor.ts";
import type { RunStatus, RunTrigger } from "../../schemas/run.ts";
import type { ErrorCode } from "./errors.ts";
import type { JobKind } from "./model.ts";

/** What stays open: a run's events over REST, and the two legs of MCP. */
export type StreamKind = "run_events" | "sse" | "mcp";

/** How a dead executor was known: by its end, or by a beat that stood still for a lease. */
export type ReclaimCause = "exit" | "lease";

/** What an attempt of a step came to. */
export type AttemptOutcome =
  | "succeeded"
  /** Its output was recorded before, or cached. */
  | "reused"
  | "skipped"
  | "failed"
  | "cancelled"
  | "interrupted"
  /** It goes on as a wait, an approval, another run, or items. */
  | "handed_on";

export type StorageAccess =
  | "read"
  /** For one's turn in the process, and for the lock. */
  | "write_wait"
  | "write";

/** Of which connection of the configuration. */
export type ConnectionKind = "database" | "model" | "mcp_server";

export interface Meter {
  /** An operation was carried out or refused; `status` is that of its answer, or of the problem that MCP tells. */
  operationCompleted(done: { name: string; surface: Surface; status: number; seconds: number }): void;
  /** A request was refused before it came to an operation. */
  requestRejected(surface: Surface, code: ErrorCode): void;
  streamCountChanged(kind: StreamKind, change: 1 | -1): void;
  runStarted(trigger: RunTrigger): void;
  /** `code` is that of its error; `seconds` from its acceptance on. */
  runEnded(end: {
    status: Extract<RunStatus, "succeeded" | "failed" | "cancelled">;
    trigger: RunTrigger;
    code: string | null;
    seconds: number;
  }): void;
  /** `seconds` only where its code ran. */
  attemptEnded(end: {
    type: string;
    outcome: AttemptOutcome;
    code: string | null;
    seconds: number | undefined;
  }): void;
  /** A job ended its executor so often that it is not tried again. */
  jobPoisoned(): void;
  jobClaimed(kind: JobKind): void;
  jobsReclaimed(cause: ReclaimCause, jobs: number): void;
  /** An executor of this listener has ended without being asked to. */
  executorEnded(): void;
  /** A database, model or server of the configuration was asked. `outcome`: ok, or the code of the step's error. */
  connectionCalled(done: { kind: ConnectionKind; name: string; outcome: string; seconds: number }): void;
  tokensUsed(model: string, used: { input: number; output: number }): void;
  /** The state was read, waited for, or written. */
  storageAccessed(access: StorageAccess, seconds: number): void;
  /** A lock of another process was met, and waited for once more. */
  storageBusy(): void;
}

const nothing = (): void => {};

/** Counts nothing. */
export const noMeter: Meter = {
  operationCompleted: nothing,
  requestRejected: nothing,
  streamCountChanged: nothing,
  runStarted: nothing,
  runEnded: nothing,
  attemptEnded: nothing,
  jobPoisoned: nothing,
  jobClaimed: nothing,
  jobsReclaimed: nothing,
  executorEnded: nothing,
  connectionCalled: nothing,
  tokensUsed: nothing,
  storageAccessed: nothing,
  storageBusy: nothing,
};

/** Seconds since `start`, a reading of `performance.now()`. */
export const secondsSince = (start: number): number => (performance.now() - start) / 1_000;
