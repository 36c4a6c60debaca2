/** The interface of the store for interruptions. The rules for transactions in run-ports.ts hold. */
import type { InterruptionOutcome, InterruptionReason } from "../../schemas/interruption.ts";
import type { Visibility } from "./access.ts";
import type { EncodedJson } from "./encoded-json.ts";
import type { ListPosition, Page, StepRef } from "./model.ts";
import type { PersonalCause } from "./run-causes.ts";
import type { Applied } from "./transactions.ts";

/** The last lookup that asked for an effect. */
interface LookupRecord {
  at: string;
  /** Why it could not tell; null if it did. */
  error: string | null;
  /** How often it failed so far, in this run. */
  failures: number;
  runId: string;
}

/** An attempt of a step with effects that ended without an answer. */
export interface InterruptionRecord extends StepRef {
  id: string;
  project: string;
  /** Null in a run of a single step. */
  workflowId: string | null;
  attempt: number;
  reason: InterruptionReason;
  idempotencyKey: string;
  startedAt: string;
  interruptedAt: string;
  /** Whether the step was set to wait until a person settles it. */
  isAsked: boolean;
  lookup: LookupRecord | null;
  /** Null while it is open. */
  outcome: InterruptionOutcome | null;
  settledAt: string | null;
  /** Null while it is open, and for a lookup. */
  settledBy: string | null;
  /** The same person as a cause of the runs that go on with what they said. */
  settler: PersonalCause | null;
  comment: string | null;
}

/** How an interruption was settled. */
export type Settlement = Pick<InterruptionRecord, "settledBy" | "settler" | "comment"> & {
  outcome: InterruptionOutcome;
  settledAt: string;
  /** With `happened`: what the step would have returned. Null: nothing is known of it. */
  output: EncodedJson | null;
};

/** How a person settles an interruption. */
export type PersonalSettlement = Omit<Settlement, "settledAt"> & { settler: PersonalCause };

export interface InterruptionFilter {
  /** Only open ones, or only settled ones. */
  isOpen?: boolean | undefined;
  runId?: string | undefined;
  workflowId?: string | undefined;
  project?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface InterruptionReader {
  find(id: string): Promise<InterruptionRecord | undefined>;
  /** The interruption of the newest interrupted attempt of a step or item. */
  latest(ref: StepRef): Promise<InterruptionRecord | undefined>;
  /** The interruptions of all attempts with this idempotency key, in whichever run, the newest last: at most 100. */
  ofKey(idempotencyKey: string): Promise<InterruptionRecord[]>;
  /** The output with which a person or a lookup settled it; null where it was settled without. */
  output(id: string): Promise<EncodedJson | null>;
  /** Newest first. */
  page(query: {
    filter: InterruptionFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<InterruptionRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: InterruptionFilter): Promise<number>;
  /** Number of open interruptions of these runs; a run without any is missing. */
  openCounts(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

export interface InterruptionWriter extends InterruptionReader {
  /**
   * Opens an interruption of an attempt. Locks nothing.
   *
   * Guarantee: each attempt has one at most.
   * @returns false when the attempt has one already; nothing is written then
   */
  open(
    interruption: Omit<
      InterruptionRecord,
      "isAsked" | "lookup" | "outcome" | "settledAt" | "settledBy" | "settler" | "comment"
    >,
  ): Promise<Applied>;
  /**
   * Reads an interruption that is about to be acted on.
   *
   * Locks: its row, until the transaction ends, so that nobody settles it meanwhile. Requires `runs.lock` of the run that acts.
   */
  lock(id: string): Promise<InterruptionRecord | undefined>;
  /**
   * Records that its step waits until it is settled. Requires `runs.lock`.
   * @throws AppError upgrade_unfinished while a copy of an older release runs, which would not go on with it
   */
  setAsked(id: string): Promise<void>;
  /** Records a lookup. Requires `lock`. */
  setLookup(id: string, lookup: LookupRecord): Promise<void>;
  /**
   * Settles an open interruption, or one of which only a lookup has said that its effect did not happen.
   *
   * Guarantee: of all calls with the outcome of a person, one returns true.
   * Locks: its row, until the transaction ends.
   * @returns false when it was settled before; nothing is written then
   */
  settle(id: string, settlement: Settlement): Promise<Applied>;
}
