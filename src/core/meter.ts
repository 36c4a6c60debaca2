/**
 * The port for metrics, which `src/telemetry` implements. Arguments become metric labels, so they must come from a fixed
 * set or from the configuration: never an id, nor text of a client.
 */
import type { Surface } from "../../schemas/actor.ts";
import type { BackfillStatus } from "../../schemas/backfill.ts";
import type { RunStatus, RunTrigger } from "../../schemas/run-status.ts";
import type { EventType } from "../../schemas/subscription.ts";
import type { ErrorCode } from "./errors.ts";
import type { JobKind } from "./model.ts";
import type { TriggerDeliveryEnd } from "./trigger-ports.ts";

/** Streams that stay open: the events of a run over REST, and the two transports of MCP. */
export type StreamKind = "run_events" | "sse" | "mcp";

/** How a dead executor was detected: its process exited, or it missed its lease. */
export type ReclaimCause = "exit" | "lease";

export type AttemptOutcome =
  | "succeeded"
  /** A recorded or cached output was used. */
  | "reused"
  | "skipped"
  | "failed"
  | "cancelled"
  | "interrupted"
  /** The step continues without its executor: it waits for a time, an approval, a run or its items. */
  | "handed_on";

export type StorageAccess =
  | "read"
  /** The wait for the process's write connection and for the lock. */
  | "write_wait"
  | "write";

export type ConnectionKind = "database" | "model" | "mcp_server";

export interface Meter {
  /** An operation succeeded or failed; `status` is its HTTP status, over MCP that of the problem in its result. */
  operationCompleted(call: { name: string; surface: Surface; status: number; seconds: number }): void;
  /** A request was rejected before an operation started. */
  requestRejected(surface: Surface, code: ErrorCode): void;
  streamCountChanged(kind: StreamKind, change: 1 | -1): void;
  runStarted(trigger: RunTrigger): void;
  /** `code` is the error code; `seconds` is the time since the run was created. */
  runEnded(end: {
    status: Extract<RunStatus, "succeeded" | "failed" | "cancelled">;
    trigger: RunTrigger;
    code: string | null;
    seconds: number;
  }): void;
  /** It handled its range, or could not go on. */
  backfillEnded(status: Extract<BackfillStatus, "finished" | "failed">): void;
  /** `seconds` is undefined when the step's code did not run. */
  attemptEnded(end: {
    type: string;
    outcome: AttemptOutcome;
    code: string | null;
    seconds: number | undefined;
  }): void;
  /** A job crashed its executor so often that it is not retried. */
  jobPoisoned(): void;
  jobClaimed(kind: JobKind): void;
  jobsReclaimed(cause: ReclaimCause, jobs: number): void;
  /** An executor process of this listener exited unexpectedly. */
  executorEnded(): void;
  /** An event was attempted to be delivered to a subscription, or by mail. */
  deliveryAttempted(attempt: { event: EventType; outcome: "delivered" | "failed"; seconds: number }): void;
  /** A delivery to a trigger was recorded, repeated one that was, or was refused with a client error. */
  triggerDeliveryReceived(result: "recorded" | "repeated" | "refused"): void;
  /** A recorded delivery started a run, or ended without one. */
  triggerDeliveryEnded(status: TriggerDeliveryEnd["status"]): void;
  /** A configured database, model or MCP server was called. `outcome` is `ok` or the code of the step error. */
  connectionCalled(call: { kind: ConnectionKind; name: string; outcome: string; seconds: number }): void;
  tokensUsed(model: string, used: { input: number; output: number }): void;
  /** The database was read or written, or a write waited. */
  storageAccessed(access: StorageAccess, seconds: number): void;
  /** Another process holds the database lock; the wait for it starts over. */
  storageBusy(): void;
}

const noop = (): void => {};

export const noMeter: Meter = {
  operationCompleted: noop,
  requestRejected: noop,
  streamCountChanged: noop,
  runStarted: noop,
  runEnded: noop,
  backfillEnded: noop,
  attemptEnded: noop,
  jobPoisoned: noop,
  jobClaimed: noop,
  jobsReclaimed: noop,
  executorEnded: noop,
  deliveryAttempted: noop,
  triggerDeliveryReceived: noop,
  triggerDeliveryEnded: noop,
  connectionCalled: noop,
  tokensUsed: noop,
  storageAccessed: noop,
  storageBusy: noop,
};

/** Returns the seconds since `start`, a value of `performance.now()`. */
export const secondsSince = (start: number): number => (performance.now() - start) / 1_000;
