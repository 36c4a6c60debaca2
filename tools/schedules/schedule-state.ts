/** Schedules as the API returns them. */
import { projectField } from "../../schemas/project.ts";
import type { ScheduleState } from "../../schemas/schedule-state.ts";
import { iso } from "../../src/core/clock.ts";
import { AppError } from "../../src/core/errors.ts";
import { findWorkflow } from "../../src/core/find-workflow.ts";
import type { Readers, Writers } from "../../src/core/ports.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { detailsOfChange } from "../../src/core/workflow-change-details.ts";

/** Number of next times in a response. */
export const NEXT_TIMES = 5;

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

/** Pauses a schedule, or resumes it from now on, with the audit entry. @param schedule one that is in the other state */
export async function savePaused(
  ctx: Pick<ToolContext, "engine" | "now">,
  tx: Pick<Writers, "schedules" | "expectations" | "recordAudit">,
  schedule: ScheduleRecord,
  paused: boolean,
): Promise<ScheduleRecord> {
  const [next] = paused ? [] : ctx.engine.nextScheduleTimes(schedule, ctx.now(), 1);
  const nextAt = paused ? schedule.nextAt : next === undefined ? null : iso(next);
  const saved = { ...schedule, paused, nextAt };
  await tx.schedules.save(saved);
  // The time that it was paused does not count.
  if (!paused) await tx.expectations.restart(schedule.workflowId, iso(ctx.now()), false);
  await tx.recordAudit(schedule.workflowId, undefined, {
    details: detailsOfChange({ before: { paused: !paused }, after: { paused } }),
  });
  return saved;
}

export function scheduleState(ctx: ToolContext, schedule: ScheduleRecord): ScheduleState {
  const { workflowId, project, version, cron, timezone, overlap, paused, lastAt, skipped } = schedule;
  const nextRuns = paused ? [] : ctx.engine.nextScheduleTimes(schedule, ctx.now(), NEXT_TIMES).map(iso);
  const warning = ctx.engine.scheduleWarning(schedule);
  return {
    workflow_id: workflowId,
    ...projectField(project),
    version,
    cron,
    timezone,
    overlap,
    paused,
    next_runs: nextRuns,
    last_at: lastAt,
    skipped,
    ...(warning !== undefined && { warning }),
  };
}
