/** Schedules as the API returns them. */
import type { ScheduleState } from "../../schemas/schedule-state.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers } from "../../src/core/ports.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";

/** Number of next times in a response. */
const NEXT_TIMES = 5;

/**
 * Finds the schedule of a workflow's published version.
 * @throws AppError workflow_not_found, schedule_not_found
 */
export async function findSchedule(
  read: Pick<Readers, "workflows" | "schedules">,
  workflowId: string,
): Promise<ScheduleRecord> {
  const { id, status } = await findWorkflow(read.workflows, workflowId);
  const found = await read.schedules.find(id);
  if (found !== undefined) return found;
  throw new AppError(
    "schedule_not_found",
    `"${id}" has no schedule: ` +
      (status === "published"
        ? "its published version has none. Add `schedule` to its definition and publish it."
        : `it is ${status}, and only published workflows have one. Publish it (POST /workflows/${id}/publish).`),
  );
}

export function scheduleState(ctx: ToolContext, schedule: ScheduleRecord): ScheduleState {
  const { workflowId, version, cron, timezone, overlap, paused, lastAt, skipped } = schedule;
  const next = paused ? [] : ctx.engine.nextScheduleTimes(schedule, ctx.now(), NEXT_TIMES).map(iso);
  const warning = ctx.engine.scheduleWarning(schedule);
  return {
    workflow_id: workflowId,
    version,
    cron,
    timezone,
    overlap,
    paused,
    next,
    last_at: lastAt,
    skipped,
    ...(warning !== undefined && { warning }),
  };
}
