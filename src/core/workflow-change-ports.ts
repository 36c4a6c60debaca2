/** Changes of workflows as the audit log records them, so that they can be listed and reverted by key. */
import type { Surface } from "../../schemas/actor.ts";
import type { ExposureConsent } from "./workflow-ports.ts";

/** What can change of a workflow. Its versions have the content. */
export interface WorkflowFacts {
  version: number;
  archived: boolean;
  /** The published version; null when none is. An archived workflow keeps it. */
  published: number | null;
  /** Whether its schedule is paused. */
  paused: boolean;
  /** An admin's consent to expose it as a tool. */
  consent: ExposureConsent | null;
  project: string;
}

/** One change of a workflow: the facts that changed, as they were before and after. */
export interface WorkflowChange {
  /** Null when the workflow was created. */
  before: Partial<WorkflowFacts> | null;
  after: Partial<WorkflowFacts>;
}

/** The last entry of a revert of one workflow. */
export type RevertRecord =
  /** Since this entry, the workflow is as it was before entry `from`: all entries between them are undone. */
  | { kind: "rewound"; from: number }
  /** The changes of a key were taken out from among those of others. */
  | { kind: "removed"; from: number; to: number; lineage: string; client: string | null };

/** An audit entry that is about a change of a workflow. */
export interface WorkflowChangeEntry {
  /** Grows with time. */
  id: number;
  at: string;
  operation: string;
  workflowId: string;
  owner: string;
  keyName: string | null;
  /** Null in entries of older releases. */
  lineage: string | null;
  surface: Surface;
  client: string;
  /** Null in entries of older releases, which say no more than the operation, and in the last one of a revert. */
  change: WorkflowChange | null;
  /** What the last entry of a revert says; else null. */
  revert: RevertRecord | null;
}

/** A key, with the keys that it was rotated to or from. Entries of older releases have no lineage, only the names. */
export interface KeyIdentity {
  lineage: string;
  owner: string;
  name: string;
}

/** Whether a key made a change. */
export const isChangeOf = (
  { lineage, owner, name }: KeyIdentity,
  entry: Pick<WorkflowChangeEntry, "lineage" | "owner" | "keyName">,
): boolean =>
  entry.lineage === null ? entry.owner === owner && entry.keyName === name : entry.lineage === lineage;

/** What a key did in a window of time. */
export interface KeyActivity {
  /** The workflows that it changed, each with a program that used the key for it, the last changed first. */
  changed: { workflowId: string; client: string }[];
  /** How often a program used each of the operations that can't be reverted. */
  counts: { operation: string; project: string; client: string; count: number }[];
  /** The audit entries that were read. */
  from: number;
  to: number;
  /** The time of the oldest entry, where the log does not reach back to the beginning of the window; else null. */
  recordsSince: string | null;
}

/** Reads changes of workflows from the audit log. */
export interface WorkflowChangeReader {
  /** @param since ISO 8601 */
  ofKey(key: KeyIdentity, since: string): Promise<KeyActivity>;
  /** The changes of workflows by anybody, oldest first. @param range ids of entries, inclusive */
  ofWorkflows(ids: ReadonlySet<string>, range: { from: number; to: number }): Promise<WorkflowChangeEntry[]>;
  /** Whether a workflow has changed after an entry. */
  hasChangedAfter(workflowId: string, entry: number): Promise<boolean>;
}
