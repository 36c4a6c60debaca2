/** Backfills: the runs of a schedule for a past range, as the API returns them. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { RunStatus } from "./run-status.ts";
import { text, timestamp } from "./text.ts";

/** Maximum number of scheduled times of a backfill. */
export const MAX_BACKFILL_SLOTS = 10_000;
/** Maximum number of runs of a backfill that are unfinished at a time. */
const MAX_BACKFILL_CONCURRENCY = 20;
/** Maximum number of scheduled times that a preview lists. */
export const MAX_PREVIEW_SLOTS = 1_000;

export const BackfillId = text(100, 1).meta({
  description: "The backfill's id, from start_backfill or list_backfills.",
  example: "bf_8dkq2m0sfj3a",
});

export const BackfillStatus = z.enum(["running", "finished", "failed", "cancelled"]).meta({
  description:
    "`finished`: each scheduled time was handled and its run has ended, successfully or not. `failed`: it could not go on; `message` says why.",
  example: "running",
});
export type BackfillStatus = z.infer<typeof BackfillStatus>;

export const ExistingRuns = z.enum(["skip", "repeat_failed", "repeat"]).meta({
  description:
    "What happens with a scheduled time that has a run: `skip`; `repeat_failed` if the newest run failed or was cancelled; `repeat` always.",
  example: "skip",
});
export type ExistingRuns = z.infer<typeof ExistingRuns>;

/** The end of a range: a moment, or a day in the time zone of the schedule. */
const RangeEnd = z
  .string()
  .refine(
    (moment) =>
      /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(moment) &&
      !Number.isNaN(Date.parse(moment)),
    {
      message: "must be a time such as 2026-11-21T08:00:00Z, or a date such as 2026-11-21",
      params: { code: "wrong_format" },
    },
  );

export const backfillRange = {
  from: RangeEnd.meta({
    description: "The first scheduled time, included; a date begins in the time zone of the schedule.",
    example: "2026-10-01",
  }),
  to: RangeEnd.meta({
    description:
      "The last scheduled time, included; a date ends in the time zone of the schedule. Times that the schedule itself will run are left out.",
    example: "2026-10-31",
  }),
  existing: ExistingRuns.default("skip"),
};

export const BackfillConcurrency = z
  .int()
  .min(1)
  .max(MAX_BACKFILL_CONCURRENCY)
  .default(1)
  .meta({
    description: `Number of its runs that may be unfinished at a time, 1 to ${MAX_BACKFILL_CONCURRENCY}. With 1 they run in order.`,
    example: 2,
  });

const rangeFields = {
  workflow_id: z.string().meta({ example: "weekly-revenue" }),
  version: z.int().meta({ description: "The version that all of its runs execute.", example: 3 }),
  cron: z.string().meta({ example: "0 8 * * MON" }),
  timezone: z.string().meta({ example: "Europe/Berlin" }),
  from: timestamp.meta({ description: "The first moment of the range." }),
  to: timestamp.meta({ description: "The last moment of the range." }),
  existing: ExistingRuns,
};

export const Backfill = z
  .strictObject({
    id: z.string().meta({ example: "bf_8dkq2m0sfj3a" }),
    project: ProjectField,
    ...rangeFields,
    concurrency: z.int().meta({ example: 2 }),
    status: BackfillStatus,
    slots: z
      .strictObject({
        total: z.int().meta({ description: "Number of scheduled times in the range.", example: 31 }),
        started: z.int().meta({ description: "Those for which it started a run.", example: 12 }),
        skipped: z.int().meta({ description: "Those that had a run already.", example: 3 }),
        left: z.int().meta({ description: "Those that come next.", example: 16 }),
      })
      .meta({ description: "How far it is." }),
    runs: z.partialRecord(RunStatus, z.int()).meta({
      description: "Number of its runs by status. `GET /workflows/{workflow_id}/runs?backfill=…` lists them.",
      example: { succeeded: 10, running: 2 },
    }),
    next_at: timestamp.nullable().meta({ description: "The scheduled time that comes next." }),
    reason: z.string().nullable().meta({ example: "The shop was closed in October." }),
    message: z
      .string()
      .nullable()
      .meta({ description: "Why it starts no run at the moment, or why it failed.", example: null }),
    started_by: z.string().meta({ description: "The owner of the key.", example: "ann@example.com" }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    cancelled_by: z.string().nullable().meta({ example: null }),
  })
  .meta({ id: "Backfill", description: "The runs of a schedule for a past range." });
export type Backfill = z.infer<typeof Backfill>;

export const BackfillPreview = z
  .strictObject({
    ...rangeFields,
    total: z.int().meta({ description: "Number of scheduled times in the range.", example: 31 }),
    starts: z.int().meta({
      description: "Number of the listed times for which a run would start.",
      example: 28,
    }),
    slots: z
      .array(
        z.strictObject({
          at: timestamp.meta({ description: "The scheduled time: `run.scheduled_for`." }),
          local: z.string().meta({
            description: "The same in the time zone of the schedule.",
            example: "2026-10-05T08:00:00+02:00",
          }),
          action: z.enum(["start", "skip"]).meta({ example: "start" }),
          run_id: z.string().optional().meta({ description: "The newest run of this time." }),
          run_status: RunStatus.optional(),
        }),
      )
      .meta({ description: `The first ${MAX_PREVIEW_SLOTS} of them.` }),
    warnings: z.array(z.string()).meta({
      description: "What to think of before you start it.",
      example: [],
    }),
  })
  .meta({ id: "BackfillPreview", description: "What a backfill would start. Nothing was changed." });
export type BackfillPreview = z.infer<typeof BackfillPreview>;
