/** The scheduled times of a range, for backfills and their previews. */
import type { z } from "zod";
import {
  type backfillRange,
  type BackfillPreview,
  MAX_BACKFILL_SLOTS,
  MAX_PREVIEW_SLOTS,
} from "../../schemas/backfill.ts";
import { isBackfillDone } from "../../src/core/backfill-ports.ts";
import { DAY, iso } from "../../src/core/clock.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ScheduleRecord } from "../../src/core/model.ts";
import { isoInZone, timeZone } from "../../src/core/time-zone.ts";
import type { ToolContext } from "../../src/core/tool.ts";

type Range = Pick<z.output<z.ZodObject<typeof backfillRange>>, "from" | "to">;

export interface Slots {
  /** The first and the last moment of the range, in milliseconds. */
  from: number;
  to: number;
  /** The scheduled times in it, in milliseconds. */
  times: number[];
}

/**
 * Finds the scheduled times of a range. Those that the schedule itself will run are left out.
 * @throws AppError invalid_input when there are none, or more than a backfill may have
 */
export async function slotsOf(
  ctx: Pick<ToolContext, "engine" | "now">,
  schedule: ScheduleRecord,
  range: Range,
): Promise<Slots> {
  const { cron, timezone, paused, nextAt } = schedule;
  const from = momentOf(range.from, timezone, "first");
  const requested = momentOf(range.to, timezone, "last");
  if (requested < from) throw issue("to", "must not be before from", range.to);
  const now = ctx.now();
  if (from > now) throw issue("from", `must be in the past: it is ${iso(now)} now`, range.from);
  const due = paused || nextAt === null ? Infinity : Date.parse(nextAt) - 1;
  const to = Math.min(requested, now, due);
  // One more than the maximum tells that there are too many.
  const times = await ctx.engine.scheduleTimesBetween(schedule, { from, to, max: MAX_BACKFILL_SLOTS + 1 });
  if (times.length === 0)
    throw issue(
      "from",
      `must be at or before a past time of the schedule (${cron}, ${timezone}) in the range; there is none between ` +
        `${iso(from)} and ${iso(to)}`,
      range.from,
    );
  if (times.length > MAX_BACKFILL_SLOTS)
    throw issue(
      "to",
      `must leave at most ${MAX_BACKFILL_SLOTS.toLocaleString("en")} scheduled times; from ${iso(from)} that is up to ` +
        iso(times[MAX_BACKFILL_SLOTS - 1]!),
      range.to,
    );
  return { from, to, times };
}

/** A day is that of the schedule's time zone: its first moment, or its last one. */
function momentOf(text: string, timezone: string, which: "first" | "last"): number {
  if (text.includes("T")) return Date.parse(text);
  const zone = timeZone(timezone);
  const day = Date.parse(text);
  return which === "first" ? zone.toMoment(day) : zone.toMoment(day + DAY) - 1;
}

const issue = (path: string, message: string, received: string) =>
  invalidInput([{ path, code: "out_of_range", message: `${message}, got ${received}` }]);

/** The first slots of a range, with what a backfill would do for each of them. */
export async function previewSlots(
  ctx: Pick<ToolContext, "read">,
  { workflowId, project, timezone }: ScheduleRecord,
  { times, existing }: Pick<Slots, "times"> & Pick<BackfillPreview, "existing">,
): Promise<BackfillPreview["slots"]> {
  const listed = times.slice(0, MAX_PREVIEW_SLOTS);
  const found = await ctx.read.backfills.slotRuns({ workflowId, project }, listed.map(iso));
  const zone = timeZone(timezone);
  const slotAt = (time: number): BackfillPreview["slots"][number] => {
    const run = found.get(iso(time));
    return {
      at: iso(time),
      local: isoInZone(time, zone),
      action: isBackfillDone({ existing }, run) ? "skip" : "start",
      ...(run !== undefined && { run_id: run.runId, run_status: run.status }),
    };
  };
  return listed.map(slotAt);
}
