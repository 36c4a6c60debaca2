/** Limits how much each owner stores: `limits.per_key.stored_bytes`. What runs already may exceed it. */
import { MINUTE, SECOND } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { RunActor } from "../../core/model.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import { isUsageLimited, ownerLabel, type PerKeyLimits, usageSubjectOf } from "../../core/usage-limits.ts";

/** How often old runs are purged, which makes room, in seconds. */
const RETRY_AFTER_S = (10 * MINUTE) / SECOND;

/**
 * Why an owner may store no more now; undefined when it may. It takes no lock: what starts at the same time can exceed the
 * limit together, as can the runs that are running.
 */
export async function storageRefusal(
  tx: Pick<EngineWriters, "usage">,
  { stored_bytes: max }: PerKeyLimits,
  actor: Pick<RunActor, "owner" | "keyName" | "lineage">,
): Promise<AppError | undefined> {
  if (max === undefined || !isUsageLimited(actor)) return undefined;
  const stored = await tx.usage.storedBytes(usageSubjectOf(actor));
  if (stored < max) return undefined;
  return new AppError(
    "storage_limit_reached",
    `What ${ownerLabel(actor)} stores has ${stored.toLocaleString("en")} bytes, and the maximum is ` +
      `${max.toLocaleString("en")} (limits.per_key.stored_bytes): inputs, outputs and definitions of runs and versions, and states of workflows. ` +
      "Nothing was changed. Runs free their part when they are purged (retention.runs). Or ask the operator to prune " +
      "old versions or to raise the limit.",
    { headers: { "Retry-After": String(RETRY_AFTER_S) } },
  );
}
