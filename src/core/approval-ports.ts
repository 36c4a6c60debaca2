/** The interface of the store for approvals. The rules for transactions in run-ports.ts hold. */
import type { ApprovalStatus } from "../../schemas/run-status.ts";
import type { Visibility } from "./access.ts";
import type { NewApprovalEvent, PersonDecision } from "./approval-rules.ts";
import type { ApprovalRecord, ListPosition, StepRef } from "./model.ts";
import type { Applied } from "./transactions.ts";

export interface ApprovalFilter {
  status?: ApprovalStatus | undefined;
  runId?: string | undefined;
  /** Only of runs in this project. */
  project?: string | undefined;
  /** Only of runs that a caller can find; null or left out, of all. */
  visibility?: Visibility | null | undefined;
}

export interface ApprovalReader {
  find(id: string): Promise<ApprovalRecord | undefined>;
  findByStep(ref: StepRef): Promise<ApprovalRecord | undefined>;
  /**
   * The decisions that the output of a step rests on: its own, and those in the runs that it started, on all levels.
   * `depth` is the number of levels below the run of the step.
   * @param ref left without an item: of all items
   */
  decisionsOf(
    ref: Omit<StepRef, "item"> & { item?: number | null },
  ): Promise<{ plan: readonly string[] | null; depth: number }[]>;
  /** Newest first. */
  page(query: {
    filter: ApprovalFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<{ items: ApprovalRecord[]; next: ListPosition | null }>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: ApprovalFilter): Promise<number>;
}

/** A decision. `plan` is left out where the approval keeps the plan that it was asked for. */
export type ApprovalDecision = Pick<
  ApprovalRecord,
  "status" | "decidedAt" | "decidedBy" | "comment" | "answer"
> &
  Partial<Pick<ApprovalRecord, "plan" | "decidedVia">>;

/** An approval that is asked for. */
type NewApproval = Omit<ApprovalRecord, "project" | "decisions" | "events">;

export interface ApprovalWriter extends ApprovalReader {
  /** @throws AppError upgrade_unfinished for rules that a running copy of an older release would not respect */
  insert(approval: NewApproval): Promise<void>;
  /**
   * Finds an approval, and keeps others from changing it, its decisions and its events.
   *
   * Locks: the approval's row, until the transaction ends.
   */
  lock(id: string): Promise<ApprovalRecord | undefined>;
  /**
   * Records what one person decided. Requires `lock`.
   *
   * Guarantee: for each plan, each person decides once, and each seat is taken once.
   * @returns false when the person has decided, or the seat is taken; nothing is written then
   */
  addDecision(id: string, decision: PersonDecision): Promise<Applied>;
  /** Records what happened to an approval, as the next of its events. Requires `lock`. @returns its number */
  addEvent(id: string, event: NewApprovalEvent): Promise<number>;
  /** Records that those whom events concern have been notified. */
  setNotified(id: string, seqs: readonly number[]): Promise<void>;
  /**
   * Decides a pending approval: by a person, or by its timeout.
   *
   * Guarantee: of all calls for one approval, one returns true.
   * Locks: the approval's row, until the transaction ends.
   * Concurrent callers: wait, then get false.
   * @returns false when it is no longer pending; the caller must then write nothing
   */
  decide(id: string, decision: ApprovalDecision): Promise<Applied>;
  /**
   * Cancels the run's pending approvals. One that another transaction is deciding is left decided.
   * @returns whether one of them was posted to chats, whose messages then show that it has ended
   */
  cancelForRun(runId: string, at: string): Promise<boolean>;
}
