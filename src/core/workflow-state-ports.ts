/** The interfaces of the store for the state of workflows: the values that runs leave for later ones. */
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

export interface WorkflowStateReader {
  /** @returns undefined when the state was never written, which is the revision `FIRST_STATE_REVISION` */
  find(workflowId: string): Promise<WorkflowStateRecord | undefined>;
}

export interface WorkflowStateWriter extends WorkflowStateReader {
  /** The project that the workflow, and so its state, belongs to now. */
  projectOf(workflowId: string): Promise<string>;
  /**
   * Replaces the whole state, if its revision is still `expected`, and adds 1 to the revision.
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
    state: Omit<WorkflowStateRecord, "revision">,
    subject: string,
  ): Promise<Applied>;
}
