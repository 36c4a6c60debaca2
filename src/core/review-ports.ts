/** The interface of the store for change requests. The rules for transactions in run-ports.ts hold. */
import type { PassedBacktest } from "../../schemas/backtest-rule.ts";
import type { ReviewExample, ReviewPlan, ReviewStatus } from "../../schemas/review.ts";
import type { Visibility } from "./access.ts";
import type { ListPosition, Page } from "./model.ts";
import type { Applied } from "./transactions.ts";

/** A request to publish a version, which another person decides. */
export interface ReviewRecord {
  id: string;
  /** The project of the workflow when it was asked. */
  project: string;
  workflowId: string;
  version: number;
  /** The version that was published when it was asked, or decided; null for none. */
  baseVersion: number | null;
  /** Stands for the version, the plan and the base version, as they were asked for, or decided on. */
  digest: string;
  status: ReviewStatus;
  plan: ReviewPlan;
  examples: ReviewExample[];
  /** The backtest that the version passed before it was asked; null where none was needed. */
  backtest: PassedBacktest | null;
  reason: string | null;
  requestedAt: string;
  /** The person, or the owner of the key, that asked. */
  requestedBy: string;
  keyName: string;
  lineage: string;
  /** The usage subject of the requester (core/usage-limits.ts). */
  subject: string;
  decidedAt: string | null;
  decidedBy: string | null;
  comment: string | null;
}

/** How a request ends. `decidedBy` is null where it ended by itself. */
export type ReviewEnd = Pick<ReviewRecord, "decidedAt" | "decidedBy" | "comment"> & {
  status: Exclude<ReviewStatus, "pending">;
};

export interface ReviewFilter {
  status?: ReviewStatus | undefined;
  workflowId?: string | undefined;
  project?: string | undefined;
  /** Only what a caller can find; null or left out, everything. */
  visibility?: Visibility | null | undefined;
}

export interface ReviewReader {
  find(id: string): Promise<ReviewRecord | undefined>;
  /** The pending request of a workflow; there is at most one. */
  findPending(workflowId: string): Promise<ReviewRecord | undefined>;
  /** Newest first. */
  page(query: {
    filter: ReviewFilter;
    after: ListPosition | null;
    limit: number;
  }): Promise<Page<ReviewRecord>>;
  /** Counts up to one more than `MAX_TOTAL`. */
  count(filter: ReviewFilter): Promise<number>;
}

/** The caller writes the audit entry. */
export interface ReviewWriter extends ReviewReader {
  /** Inserts a pending request. The caller has ended an earlier one of the workflow. */
  insert(review: ReviewRecord): Promise<void>;
  /**
   * Replaces the reason of a pending request.
   *
   * Locks: the row, until the transaction ends.
   * @returns false when it is no longer pending; the caller must then write nothing
   */
  setReason(id: string, reason: string): Promise<Applied>;
  /**
   * Ends a pending request.
   *
   * Guarantee: of all calls for one request, one returns true.
   * Locks: the row, until the transaction ends.
   * @param decidedOn what was approved, in place of what was asked for
   * @returns false when it is no longer pending; the caller must then write nothing
   */
  endPending(
    id: string,
    end: ReviewEnd,
    decidedOn?: Pick<ReviewRecord, "digest" | "plan" | "baseVersion">,
  ): Promise<Applied>;
}
