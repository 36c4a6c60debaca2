/** The state of a schedule, as clients receive it. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { timestamp } from "./text.ts";

export const ScheduleState = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    project: ProjectField,
    version: z.int().meta({ description: "The published version that it runs.", example: 3 }),
    cron: z.string().meta({ example: "0 8 * * MON" }),
    timezone: z.string().meta({ example: "Europe/Berlin" }),
    overlap: z.enum(["skip", "queue"]).meta({ example: "skip" }),
    paused: z.boolean().meta({ example: false }),
    next_runs: z
      .array(timestamp)
      .meta({ description: "The next five times; none while paused.", example: [] }),
    last_at: timestamp.nullable().meta({ description: "The scheduled time of the last run." }),
    skipped: z
      .strictObject({
        reason: z.enum(["overlap", "missed", "failed", "limit"]).meta({
          description: "`failed`: the run could not start. `limit`: a limit of runs was reached.",
          example: "missed",
        }),
        count: z.int().meta({ example: 3 }),
        first: timestamp,
        last: timestamp,
        noted_at: timestamp,
        message: z.string().meta({ example: "No executor was running." }),
      })
      .nullable()
      .meta({ description: "The last skipped runs, and why." }),
    warning: z.string().optional().meta({
      description: "Why it runs less often than it says: the operator's shortest interval is longer.",
      example: "It runs at most once in 1m.",
    }),
  })
  .meta({ id: "ScheduleState", description: "A published workflow's schedule." });
export type ScheduleState = z.infer<typeof ScheduleState>;
