/** When the runs of a definition start by themselves, with their next times as local times of the schedule's zone. */
import type { PlannedSchedule } from "../../schemas/review.ts";
import { TOP_FIELDS } from "../../schemas/workflow-definition.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import { isoInZone, timeZone } from "../../src/core/time-zone.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { NEXT_TIMES } from "./schedule-state.ts";

type Context = Pick<ToolContext, "engine" | "now">;

/** The schedule of a definition; null for none. */
export function plannedSchedule(ctx: Context, definition: Record<string, unknown>): PlannedSchedule | null {
  const schedule = TOP_FIELDS.schedule.parse(definition["schedule"]);
  if (schedule === undefined) return null;
  const { cron, timezone, overlap } = schedule;
  return { cron, timezone, overlap, next_runs: localTimes(ctx, schedule) };
}

/** The next times of a schedule in its zone, each with the offset from UTC. */
export function localTimes(
  ctx: Context,
  schedule: Pick<ScheduleRecord, "cron" | "timezone"> & Partial<Pick<ScheduleRecord, "lastAt">>,
): string[] {
  const zone = timeZone(schedule.timezone);
  return ctx.engine.nextScheduleTimes(schedule, ctx.now(), NEXT_TIMES).map((at) => isoInZone(at, zone));
}
