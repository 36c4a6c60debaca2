/** The interfaces of the store for the state of workflows: the values that runs leave for later ones. */
import type { StateChangeKind } from "../../schemas/workflow-state.ts";
import type { Applied } from "./transactions.ts";

/** The revision of a state that was never written. Each write adds 1. */
export const FIRST_STATE_REVISION = 1;

export interface WorkflowStateRecord {
  revision: number;
  /** By the keys of `state` of the definitions. A key that was never written is missing. */
  values: Readonly<Record<string, unknown>>;
  updatedAt: string;
  /** The run that committed it (`run_…`), or the person or key owner who set it. */
  updatedBy: string;
}

/** Why and how a state changes. */
export interface StateChange {
  kind: StateChangeKind;
  /** The name of the key that set it; null for a run. */
  keyName: string | null;
  reason: string | null;
}

/** The value of a key before and after a change: without one of them, it was not written. Long ones are cut. */
export interface StateValueChange {
  key: string;
  before?: unknown;
  after?: unknown;
}

export interface StateChangeRecord extends StateChange {
  /** The revision of the state after it. */
  revision: number;
  at: string;
  /** See `WorkflowStateRecord.updatedBy`. */
  by: string;
  changes: readonly StateValueChange[];
}

export interface WorkflowStateReader {
  /** @returns undefined when the state was never written, which is the revision `FIRST_STATE_REVISION` */
  find(workflowId: string): Promise<WorkflowStateRecord | undefined>;
  /** The newest changes, newest first. @param query.before only those before this revision; null for all */
  history(query: { workflowId: string; before: number | null; limit: number }): Promise<StateChangeRecord[]>;
  countHistory(workflowId: string): Promise<number>;
}

export interface WorkflowStateWriter extends WorkflowStateReader {
  /** The project that the workflow, and so its state, belongs to now. */
  projectOf(workflowId: string): Promise<string>;
  /**
   * Replaces the whole state, if its revision is still `expected`, and adds 1 to the revision. What has changed is added to
   * the history.
   *
   * Guarantee: of all calls with one expected revision, one returns true.
   * Locks: the row of the state, until the transaction ends.
   * Concurrent callers: wait, then get false.
   * @param subject for whose stored bytes it counts from now on (usage-limits.ts)
   * @returns false when it was written meanwhile; the caller must then not succeed
   */
  replace(
    workflowId: string,
    expected: number,
    state: Omit<WorkflowStateRecord, "revision"> & { change: StateChange },
    subject: string,
  ): Promise<Applied>;
}
