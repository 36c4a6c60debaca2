/** A step waits until a person says whether the effect of its interrupted attempt happened. Its next attempt acts on that. */
import type { WaitKind } from "./wait-kind.ts";

export const interruptionWait: WaitKind<"interruption"> = {
  state: "waiting",

  async begin({ update: { tx } }, { interruption }) {
    await tx.interruptions.setAsked(interruption);
    return { waitUntil: null };
  },

  matches: async (tx, _step, ref) => (await tx.interruptions.latest(ref))?.isAsked === true,

  async onTimer(_context, tx, _step, ref) {
    const interruption = await tx.interruptions.latest(ref);
    return interruption === undefined || interruption.outcome === null ? undefined : { kind: "again" };
  },
};
