import type { EngineWriters } from "../../core/run-ports.ts";
import type { JobResult } from "../../queue/types.ts";

/** Completes a job together with a change of its run. */
export const withChange = (change: (tx: EngineWriters) => Promise<void>): JobResult => ({
  kind: "complete",
  change,
});

/** Completes a job that has nothing to do any more. */
export const withoutChange = (): JobResult => withChange(() => Promise.resolve());
