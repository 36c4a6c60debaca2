/** Limits how much each owner and each project stores: `stored_bytes`. What runs already may exceed it. */
import { MINUTE, SECOND } from "../../core/clock.ts";
import type { EngineWriters } from "../../core/run-ports.ts";
import type { UsageHolder } from "../../core/usage-limits.ts";
import { LimitRefusal } from "./limit-refusal.ts";

/** How often old runs are purged, which makes room, in seconds. */
const RETRY_AFTER_S = (10 * MINUTE) / SECOND;

/**
 * Why no more may be stored now; undefined when it may. It takes no lock: what starts at the same time can exceed the
 * limit together, as can the runs that are running.
 */
export async function storageRefusal(
  tx: Pick<EngineWriters, "usage">,
  holders: readonly UsageHolder[],
): Promise<LimitRefusal | undefined> {
  for (const holder of holders) {
    const max = holder.limits.stored_bytes;
    if (max === undefined) continue;
    const stored = await tx.usage.storedBytes(holder.subject);
    if (stored >= max) return storageLimitReached(holder, stored, max);
  }
  return undefined;
}

const storageLimitReached = (
  { label, settingName, project }: UsageHolder,
  stored: number,
  max: number,
): LimitRefusal =>
  new LimitRefusal(
    "storage_limit_reached",
    `What ${label} stores has ${stored.toLocaleString("en")} bytes, and the maximum is ` +
      `${max.toLocaleString("en")} (${settingName("stored_bytes")}): inputs, outputs and definitions of runs and versions, states of workflows, and deliveries. ` +
      "Nothing was changed. Runs free their part when they are purged (retention.runs), deliveries to webhooks after 7 days, " +
      "those to subscriptions after retention.deliveries. Or ask the operator to prune " +
      "old versions or to raise the limit.",
    { retryAfterS: RETRY_AFTER_S, project },
  );
