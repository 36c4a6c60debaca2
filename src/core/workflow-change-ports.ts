/** Changes of workflows and subscriptions as the audit log records them, so that they can be listed and reverted by key. */
import type { Surface } from "../../schemas/actor.ts";
import type { ExposureConsent } from "./ports.ts";
import type { SubscriptionRecord } from "./subscription-ports.ts";

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
  /** The projects that it is offered to, sorted. */
  offers: readonly string[];
}

/** What can change of a subscription. */
export interface SubscriptionFacts extends Pick<
  SubscriptionRecord,
  "name" | "url" | "urlSecret" | "events" | "workflows" | "tags" | "includeValues" | "generation"
> {
  paused: boolean;
}

/** One change: the facts that changed, as they were before and after. */
export interface Change<Facts> {
  /** Null when it was created. */
  before: Partial<Facts> | null;
  after: Partial<Facts>;
}

export type WorkflowChange = Change<WorkflowFacts>;

/** The last entry of a revert of one workflow or subscription. */
export type RevertRecord =
  /** Since this entry, the workflow is as it was before entry `from`: all entries between them are undone. */
  | { kind: "rewound"; from: number }
  /** The changes of a key were taken out from among those of others. */
  | { kind: "removed"; from: number; to: number; lineage: string; client: string | null };

/** An audit entry that is about a change. */
interface ChangeEntry<Facts> {
  /** Grows with time. */
  id: number;
  at: string;
  operation: string;
  owner: string;
  keyName: string | null;
  /** Null in entries of older releases. */
  lineage: string | null;
  surface: Surface;
  client: string;
  /** Null in entries of older releases, which say no more than the operation, and in the last one of a revert. */
  change: Change<Facts> | null;
  /** What the last entry of a revert says; else null. */
  revert: RevertRecord | null;
}

export interface WorkflowChangeEntry extends ChangeEntry<WorkflowFacts> {
  workflowId: string;
}

export interface SubscriptionChangeEntry extends ChangeEntry<SubscriptionFacts> {
  subscriptionId: string;
  project: string;
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

/** How often a program used the key for an operation that is recorded without what it changed. */
export interface OperationCount {
  /** With its outcome after a dot. */
  operation: string;
  project: string;
  client: string;
  count: number;
  firstAt: string;
  lastAt: string;
  /** The last targets, the newest first; at most `MAX_TARGETS`. */
  targets: string[];
}

/** Maximum number of targets of an operation that are listed. */
export const MAX_TARGETS = 20;

/** A replaced URL of a trigger. */
export interface TriggerRotation {
  workflowId: string;
  /** Its name in the definition. */
  trigger: string;
  /** Null in entries of older releases. */
  triggerId: string | null;
  client: string;
  at: string;
}

/** What a key did in a window of time. */
export interface KeyActivity {
  /** The workflows that it changed, each with a program that used the key for it, the last changed first. */
  changed: { workflowId: string; client: string; count: number }[];
  /** The subscriptions that it changed, in the same way. */
  subscriptions: { subscriptionId: string; project: string; client: string; count: number }[];
  /** The URLs of triggers that it replaced, the newest first. */
  rotations: TriggerRotation[];
  /** All other entries, and what the runs of the key committed to the state of workflows. */
  operations: OperationCount[];
  /** Number of entries of what the caller can't see, by program. */
  unseen: { client: string; count: number }[];
  /** The audit entries that were read. */
  from: number;
  to: number;
  /** The time of the oldest entry, where the log does not reach back to the beginning of the window; else null. */
  recordsSince: string | null;
}

/** A range of ids of entries, inclusive. */
export interface EntryRange {
  from: number;
  to: number;
}

/** Reads changes of workflows and subscriptions from the audit log. */
export interface WorkflowChangeReader {
  /** @param since ISO 8601 */
  ofKey(key: KeyIdentity, since: string): Promise<KeyActivity>;
  /** The changes of workflows by anybody, oldest first. */
  ofWorkflows(ids: ReadonlySet<string>, range: EntryRange): Promise<WorkflowChangeEntry[]>;
  /** The changes of subscriptions by anybody, oldest first. */
  ofSubscriptions(ids: ReadonlySet<string>, range: EntryRange): Promise<SubscriptionChangeEntry[]>;
  /** Whether a workflow or a subscription has changed after an entry. */
  hasChangedAfter(target: string, entry: number): Promise<boolean>;
}
