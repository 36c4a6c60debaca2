/** The changes of one workflow or subscription in order, and which of them a revert of a key is about. */
import type { WorkflowReader } from "../../src/core/ports.ts";
import {
  type Change,
  isChangeOf,
  type KeyIdentity,
  type RevertRecord,
  type WorkflowChange,
  type WorkflowChangeEntry,
  type WorkflowFacts,
} from "../../src/core/workflow-change-ports.ts";

/** The facts of a workflow now. Whether a schedule is paused is unknown while the workflow has none. */
export type CurrentFacts = Omit<WorkflowFacts, "paused"> & { paused: boolean | undefined };

/** A change whose facts are known, except those that an older release did not record. */
export interface KnownChange extends WorkflowChangeEntry {
  change: WorkflowChange;
  /** Facts that it changed, whose values before are not on record. */
  unknown: readonly (keyof WorkflowFacts)[];
}

/** The histories of workflows and of subscriptions differ in their entries. */
export interface KeyHistory<Entry = KnownChange> {
  /** What the key changed and no revert has undone, oldest first. */
  own: Entry[];
  /** What others changed after the first of these, and is not undone. */
  others: Entry[];
  /** All changes from the first own one on that are not undone, oldest first. */
  all: Entry[];
  /** Whether an own change was matched by the names of owner and key. */
  isByName: boolean;
}

/** The key of a request, and the program that it is limited to. */
export interface Subject {
  key: KeyIdentity;
  client: string | null;
}

/**
 * Sorts out the changes of a workflow.
 * @param entries its entries since the moment, oldest first
 * @param now its facts now, which entries of older releases are completed from
 */
export const readHistory = async (
  workflows: Pick<WorkflowReader, "findVersion">,
  subject: Subject,
  entries: readonly WorkflowChangeEntry[],
  now: CurrentFacts,
): Promise<KeyHistory> => sortHistory(subject, await completeChanges(workflows, entries, now), entries);

/** What tells who made a change, and when. */
type Attributed = Pick<WorkflowChangeEntry, "id" | "client" | "lineage" | "owner" | "keyName">;

/** Whether an entry is of the key, with the program that it is limited to. */
export const isOf =
  ({ key, client }: Subject) =>
  (entry: Attributed): boolean =>
    isChangeOf(key, entry) && (client === null || entry.client === client);

/**
 * Finds those that are the key's.
 * @param known the changes, oldest first
 * @param entries all entries since the moment, with those of reverts
 */
export function sortHistory<Entry extends Attributed>(
  subject: Subject,
  known: readonly Entry[],
  entries: readonly { id: number; revert: RevertRecord | null }[],
): KeyHistory<Entry> {
  const reverts = entries.flatMap(({ id, revert }) => (revert === null ? [] : [{ ...revert, id }]));
  const live = known.filter((entry) => !reverts.some((revert) => isRewound(revert, entry)));
  const isOfKey = isOf(subject);
  const isRemoved = (entry: Entry) => reverts.some((revert) => isTakenOut(revert, subject.key, entry));
  const own = live.filter((entry) => isOfKey(entry) && !isRemoved(entry));
  const first = own[0]?.id ?? Infinity;
  const all = live.filter(({ id }) => id >= first);
  return {
    own,
    others: all.filter((entry) => !isOfKey(entry)),
    all,
    isByName: own.some(({ lineage }) => lineage === null),
  };
}

/**
 * The value of a fact before the key's last changes of it.
 * @returns undefined when the key did not change it; `superseded` when somebody else did afterwards
 */
export function valueBefore<Facts extends object, Entry extends { change: Change<Facts> }>(
  { all, own }: Pick<KeyHistory<Entry>, "all" | "own">,
  name: keyof Facts,
): { value: unknown } | "superseded" | undefined {
  const changes = all.filter(({ change }) => Object.hasOwn(change.after, name));
  const isOwn = (entry: Entry) => own.includes(entry);
  if (!changes.some(isOwn)) return undefined;
  if (!isOwn(changes.at(-1)!)) return "superseded";
  const lastOther = changes.findLastIndex((entry) => !isOwn(entry));
  return { value: changes[lastOther + 1]!.change.before![name] };
}

type Revert = RevertRecord & { id: number };

const isRewound = (revert: Revert, { id }: Attributed): boolean =>
  revert.kind === "rewound" && revert.from <= id && id <= revert.id;

const isTakenOut = (revert: Revert, key: KeyIdentity, { id, client }: Attributed): boolean =>
  revert.kind === "removed" &&
  revert.lineage === key.lineage &&
  (revert.client === null || revert.client === client) &&
  revert.from <= id &&
  id <= revert.to;

/** The changes with what they changed. Entries of older releases are completed backwards from what is the case now. */
async function completeChanges(
  workflows: Pick<WorkflowReader, "findVersion">,
  entries: readonly WorkflowChangeEntry[],
  now: CurrentFacts,
): Promise<KnownChange[]> {
  const facts: CurrentFacts = { ...now };
  const known: KnownChange[] = [];
  for (const entry of entries.toReversed()) {
    if (entry.revert !== null) continue;
    const recorded = entry.change !== null;
    const { change, unknown } = recorded
      ? { change: entry.change!, unknown: [] }
      : await earlierChange(workflows, entry, facts);
    if (isNothing(change)) continue;
    Object.assign(facts, change.before);
    known.push({ ...entry, change, unknown });
  }
  return known.toReversed();
}

const isNothing = ({ before, after }: WorkflowChange): boolean =>
  before !== null && Object.keys(after).length === 0;

type EarlierChange = { change: WorkflowChange; unknown: KnownChange["unknown"] };

const EARLIER: Readonly<Record<string, (after: CurrentFacts) => EarlierChange>> = {
  pause_schedule: () => ({ change: { before: { paused: false }, after: { paused: true } }, unknown: [] }),
  resume_schedule: () => ({ change: { before: { paused: true }, after: { paused: false } }, unknown: [] }),
  publish_workflow: ({ published }) => ({
    change: { before: {}, after: { published } },
    unknown: ["published"],
  }),
  unpublish_workflow: () => ({ change: { before: {}, after: { published: null } }, unknown: ["published"] }),
  "publish_workflow.exposed": ({ consent }) => ({
    change: { before: {}, after: { consent } },
    unknown: ["consent"],
  }),
  allow_exposure: ({ consent }) => ({ change: { before: {}, after: { consent } }, unknown: ["consent"] }),
  withdraw_exposure: () => ({ change: { before: {}, after: { consent: null } }, unknown: ["consent"] }),
};

/** What an entry of an older release changed. All other operations than those above made a version. */
async function earlierChange(
  workflows: Pick<WorkflowReader, "findVersion">,
  { operation, workflowId }: WorkflowChangeEntry,
  after: CurrentFacts,
): Promise<EarlierChange> {
  const earlier = EARLIER[operation];
  if (earlier !== undefined) return earlier(after);
  const { version, archived } = after;
  const made = await workflows.findVersion(workflowId, version);
  if (version === 1) return { change: { before: null, after: { version, archived } }, unknown: [] };
  const flips = made?.change === "archived" || made?.change === "restored";
  return {
    change: {
      before: { version: version - 1, ...(flips && { archived: made.change === "restored" }) },
      after: { version, ...(flips && { archived: made.change === "archived" }) },
    },
    unknown: [],
  };
}
