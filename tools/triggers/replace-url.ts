import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import type { TriggerRecord } from "../../src/core/trigger-ports.ts";

/**
 * Replaces the URL of a trigger, with the audit entry.
 * @returns false when somebody has replaced it since it was read
 */
export async function replaceUrl(
  { now }: Pick<ToolContext, "now">,
  tx: Pick<Writers, "triggers" | "recordAudit">,
  trigger: TriggerRecord,
): Promise<boolean> {
  if (!(await tx.triggers.rotate(trigger, iso(now())))) return false;
  const details = { trigger: trigger.name, trigger_id: trigger.id };
  await tx.recordAudit(trigger.workflowId, undefined, { details });
  return true;
}
