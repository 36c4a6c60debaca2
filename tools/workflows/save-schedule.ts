import type { WorkflowWithDefinition } from "../../schemas/workflow.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import { iso } from "../../src/core/clock.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import type { Writers } from "../../src/core/ports.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/**
 * Stores the schedule of the published version, or removes it if that version has none. A paused schedule stays paused,
 * also after it was removed; one that was not removed keeps the record of its skipped runs.
 * @param actor whom its runs belong to; default: the caller
 */
export async function saveSchedule(
  ctx: ToolContext,
  tx: Writers,
  { id, published_version: version }: WorkflowWithDefinition,
  { owner, keyName, lineage }: ScheduleRecord["actor"] = ctx.actor.principal,
): Promise<void> {
  const definition = version === null ? null : await tx.runs.versionDefinition(id, version);
  const schedule = TOP_FIELDS.schedule.parse(definition?.["schedule"]);
  if (version === null || schedule === undefined) return tx.schedules.remove(id);
  const { cron, timezone, overlap } = schedule;
  const existing = await tx.schedules.find(id);
  const [next] = ctx.engine.nextScheduleTimes({ cron, timezone }, ctx.now(), 1);
  await tx.schedules.save({
    workflowId: id,
    version,
    cron,
    timezone,
    overlap,
    paused: existing?.paused ?? (await tx.schedules.staysPaused(id)),
    nextAt: next === undefined ? null : iso(next),
    lastAt: existing?.lastAt ?? null,
    skipped: existing?.skipped ?? null,
    actor: { owner, keyName, lineage },
  });
}
