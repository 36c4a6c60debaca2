/** What a key changed, in words, for the command line. The web interface has its own messages. */
import type { ChangedWorkflow, KeyChanges } from "./key-changes.ts";

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Such as `edited versions 4–6` or `schedule paused twice`. */
export function describeChange({ change, count, from, to }: ChangedWorkflow["changes"][number]): string {
  const first = (from ?? 0) + 1;
  if (change === "edited") return first === to ? `edited version ${to}` : `edited versions ${first}–${to}`;
  const words = change.replaceAll("_", " ").replace("exposure", "as a tool");
  const times = count === 1 ? "" : count === 2 ? " twice" : ` ${count} times`;
  return `${words}${change === "published" ? ` version ${to}` : ""}${times}`;
}

/** What can't be reverted, with how often: `2 runs started`. */
export function notRevertible({ not_revertible: counts }: KeyChanges): string[] {
  const named = [
    [counts.runs_started, "run", "started"],
    [counts.runs_retried, "run", "retried"],
    [counts.runs_cancelled, "run", "cancelled"],
    [counts.approvals_decided, "approval", "decided"],
    [counts.states_set, "workflow state", "set"],
  ] as const;
  return named.filter(([count]) => count > 0).map(([count, noun, verb]) => `${plural(count, noun)} ${verb}`);
}
