import { canonicalJson } from "./canonical-json.ts";
import type { PreparedRun, RetryPlan } from "./engine-port.ts";
import { shortHash } from "./short-hash.ts";

/** Stands for what a retry does: what somebody confirmed for a run is what happens with it later, or nothing does. */
export const retryPlanDigest = (
  { workflowId, version, definition, pins, project }: PreparedRun,
  { reused, run, effects, again, items }: RetryPlan,
): string =>
  shortHash(
    canonicalJson([
      { workflowId, version, definition, pins, project },
      { reused, run, effects, again, items: [...items] },
    ]),
  );
