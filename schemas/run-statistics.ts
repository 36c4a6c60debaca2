/** How the runs of the last days ended. */
import { z } from "zod";
import { MAX_TOTAL } from "./page.ts";
import { ProjectField } from "./project.ts";
import { RunStatus } from "./run-status.ts";
import { text, timestamp } from "./text.ts";

/** Maximum number of days of statistics. */
export const MAX_DAYS = 31;
/** Maximum number of failed runs that are counted by workflow, the newest ones. */
export const MAX_FAILURES = 1_000;
/** Maximum number of failing workflows. */
export const MAX_FAILING = 20;

export const TimeZoneName = text(100, 1).meta({
  description: "The IANA time zone in which days begin.",
  example: "Europe/Berlin",
});

const Count = (what: string) =>
  z.int().meta({ description: `${what}; counting stops at ${MAX_TOTAL + 1}.`, example: 12 });

export const DayStatistics = z
  .strictObject({
    date: z.iso.date().meta({ example: "2026-11-21" }),
    from: timestamp.meta({ description: "When the day begins." }),
    to: timestamp.meta({ description: "When it ends." }),
    succeeded: Count("Runs created on the day that have succeeded"),
    failed: Count("Runs created on the day that have failed"),
  })
  .meta({ id: "DayStatistics", description: "The runs of one day." });
export type DayStatistics = z.infer<typeof DayStatistics>;

const FailingWorkflow = z
  .strictObject({
    workflow_id: z.string().meta({ example: "nightly-sync" }),
    name: z.string().meta({ example: "Nightly sync" }),
    project: ProjectField,
    failed: z.int().meta({ description: "Number of failed runs.", example: 3 }),
    last_failed_at: timestamp.meta({ description: "When the newest of them was created." }),
    last_failed_run: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    last_status: RunStatus.meta({
      description: "The status of the workflow's newest run: succeeded if it works again.",
    }),
  })
  .meta({ id: "FailingWorkflow", description: "A workflow with failed runs." });

export const RunStatistics = z
  .strictObject({
    days: z.array(DayStatistics).meta({ description: "Oldest first, today last. Trials do not count." }),
    failing: z
      .array(FailingWorkflow)
      .meta({ description: `Most failures first; at most ${MAX_FAILING} workflows.` }),
    failing_capped: z
      .literal(true)
      .optional()
      .meta({ description: `Only the newest ${MAX_FAILURES} failed runs were counted by workflow.` }),
  })
  .meta({ id: "RunStatistics", description: "How the runs of the last days ended." });
export type RunStatistics = z.infer<typeof RunStatistics>;
