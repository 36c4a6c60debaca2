/** What a key changed, in words, for the command line and the web interface. */
import type { ChangedWorkflow, KeyChanges, NotReverted, OutcomeInForce } from "./key-changes.ts";

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Such as `edited versions 4–6` or `schedule paused twice`. */
export function describeChange({ change, count, from, to }: ChangedWorkflow["changes"][number]): string {
  const first = (from ?? 0) + 1;
  if (change === "edited") return first === to ? `edited version ${to}` : `edited versions ${first}–${to}`;
  const words = change.replaceAll("_", " ").replace("exposure", "as a tool");
  const times = count === 1 ? "" : count === 2 ? " twice" : ` ${count} times`;
  return `${words}${change === "published" ? ` version ${to}` : ""}${times}`;
}

/** Such as `started runs (12 times)`. */
export const describeOperation = ({ label, count }: { label: string; count: number }): string =>
  count === 1 ? label : `${label} (${count} times)`;

/** Number of targets in a line. */
const SHOWN_TARGETS = 5;

/** Such as `granted projects the use of connections: database:shop`. */
export function describeNotReverted({ label, count, targets }: NotReverted): string {
  const shown = targets.slice(0, SHOWN_TARGETS).join(", ");
  const more = targets.length > SHOWN_TARGETS ? ", …" : "";
  return describeOperation({ label, count }) + (shown === "" ? "" : `: ${shown}${more}`);
}

/** Whether nothing is on record of a key, also nothing that the caller can't see. */
export const isNothing = (found: KeyChanges): boolean =>
  [found.workflows, found.subscriptions, found.triggers, found.not_reverted].every(
    ({ length }) => length === 0,
  ) &&
  found.unseen === 0 &&
  found.already_reverted === 0;

/** How many of a list are reverted. */
export const countReverted = (list: readonly { outcome: OutcomeInForce }[]): number =>
  list.filter(({ outcome }) => outcome === "reverted").length;

/** Such as `2 workflows and 1 subscription`; workflows are named also where there is none. */
export function describeCounts(counts: {
  workflows: number;
  subscriptions: number;
  triggers?: number;
}): string {
  const parts = [
    plural(counts.workflows, "workflow"),
    ...(counts.subscriptions > 0 ? [plural(counts.subscriptions, "subscription")] : []),
    ...(counts.triggers ? [plural(counts.triggers, "trigger")] : []),
  ];
  return parts.length < 2 ? parts[0]! : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)!}`;
}
