/** A step waits until a person says whether the effect of its interrupted attempt happened. Its next attempt acts on that. */
import { newJob } from "../run-context.ts";
import type { WaitKind } from "./wait-kind.ts";

export const interruptionWait: WaitKind<"interruption"> = {
  state: "waiting",

  async begin({ update: { tx, run }, ref }, { interruption }) {
    await tx.interruptions.setAsked(interruption);
    // It may have been settled since the attempt has read it.
    const { outcome } = (await tx.interruptions.find(interruption))!;
    if (outcome !== null) await tx.jobs.add(newJob(ref, "wake", run.priority));
    return { waitUntil: null };
  },

  matches: async (tx, _step, ref) => (await tx.interruptions.latest(ref))?.isAsked === true,

  async onTimer(_context, tx, _step, ref) {
    const interruption = await tx.interruptions.latest(ref);
    return interruption === undefined || interruption.outcome === null ? undefined : { kind: "again" };
  },
};
