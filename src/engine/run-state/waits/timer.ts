/** A `wait` step waits until a time, and then succeeds. */
import { encodeJson } from "../../../core/encoded-json.ts";
import { iso } from "../../../core/clock.ts";
import { newJob } from "../run-context.ts";
import type { OutcomeWait } from "./wait-kind.ts";

export const timerWait: OutcomeWait<"wait"> = {
  state: "waiting",

  prepare: async ({ until }, { inputHash }) => ({ kind: "wait", until: iso(until), inputHash }),

  async begin({ update: { tx, run }, ref, attempt }, { until }) {
    await tx.jobs.add(newJob(ref, "wake", run.priority, { dueAt: until, attempt }));
    return { waitUntil: until };
  },

  matches: async (_tx, { childRun, waitUntil }) => childRun === null && waitUntil !== null,

  onTimer: async (context, _tx, { waitUntil, inputHash }) => ({
    kind: "succeeded",
    output: encodeJson({ waited_until: waitUntil ?? iso(context.clock.now()) }),
    inputHash,
  }),
};
