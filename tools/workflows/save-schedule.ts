/** The schedule of what is live: a row that the executors look at. */
import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../../src/core/clock.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/**
 * Makes the schedule that of the live version: none where that has none. A paused one stays paused, and what was
 * skipped stays told.
 */
export async function saveSchedule(
  ctx: ToolContext,
  tx: Writers,
  { id, published_version: version }: WorkflowWithDefinition,
): Promise<void> {
  const definition = version === null ? null : await tx.runs.versionDefinition(id, version);
  const schedule = TOP_FIELDS.schedule.parse(definition?.["schedule"]);
  if (version === null || schedule === undefined) return tx.schedules.remove(id);
  const { cron, timezone, overlap } = schedule;
  const before = await tx.schedules.find(id);
  const [next] = ctx.engine.nextScheduleTimes({ cron, timezone }, ctx.now(), 1);
  const { owner, keyName, lineage } = ctx.actor.principal;
  await tx.schedules.save({
    workflowId: id,
    version,
    cron,
    timezone,
    overlap,
    paused: before?.paused ?? false,
    nextAt: next === undefined ? null : iso(next),
    lastAt: before?.lastAt ?? null,
    skipped: before?.skipped ?? null,
    actor: { owner, keyName, lineage },
  });
}
