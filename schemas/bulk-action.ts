/** Bulk actions: many runs retried or cancelled at once, as the API returns them. */
import { z } from "zod";
import { DEFAULT_BULK_CONCURRENCY, MAX_BULK_CONCURRENCY, MAX_BULK_RUNS } from "./bulk-action-limits.ts";
import { Rate } from "./field-values.ts";
import { ProjectField } from "./project.ts";
import { RunStatus } from "./run.ts";
import { text, timestamp } from "./text.ts";

export const BulkActionId = text(100, 1).meta({
  description: "The bulk action's id, from start_bulk_action or list_bulk_actions.",
  example: "blk_8dkq2m0sfj3a",
});

export const BulkActionKind = z.enum(["retry", "cancel"]).meta({
  description:
    "`retry` starts a new run for each that has ended; outputs of succeeded steps are reused. `cancel` stops each that has not.",
  example: "retry",
});
export type BulkActionKind = z.infer<typeof BulkActionKind>;

export const BulkActionStatus = z.enum(["preview", "running", "finished", "cancelled"]).meta({
  description:
    "`preview`: nothing was started. `finished`: every run was handled, and every retry has ended, successfully or not.",
  example: "running",
});
export type BulkActionStatus = z.infer<typeof BulkActionStatus>;

export const BulkActionResult = z.enum(["retried", "cancelled", "skipped"]).meta({
  description: "What happened with a run; `skipped`: nothing, `reason` says why.",
  example: "retried",
});
export type BulkActionResult = z.infer<typeof BulkActionResult>;

/** Why nothing happens with a run. */
export const SkipReason = z
  .enum(["already_retried", "part_of_run", "wrong_status", "not_runnable", "changed", "purged"])
  .meta({
    description:
      "`already_retried`: another run retries it. `part_of_run`: another run started it; `run_ids` retries it by itself. `wrong_status`: it has ended, or not " +
      "ended. `not_runnable`: a retry can't start; `message` says why. `changed`: a retry would do something else than the preview said. " +
      "`purged`: it is no longer stored.",
    example: "already_retried",
  });
export type SkipReason = z.infer<typeof SkipReason>;

const Skipped = z
  .strictObject({
    reason: SkipReason,
    runs: z.int().meta({ description: "Number of these runs.", example: 3 }),
    first: z.array(z.string()).meta({
      description: "The first of them.",
      example: ["run_8dkq2m0sfj3a"],
    }),
    message: z.string().optional().meta({ description: "Of the first one." }),
  })
  .meta({ id: "SkippedRuns", description: "Runs with which nothing happens." });
export type SkippedRuns = z.infer<typeof Skipped>;

/** What a bulk action does with the runs of one version. */
const BulkActionPlan = z
  .strictObject({
    workflow_id: z
      .string()
      .nullable()
      .meta({ description: "Null for single steps.", example: "weekly-revenue" }),
    version: z
      .int()
      .nullable()
      .meta({ description: "The version that the retries run; null for single steps.", example: 3 }),
    changed: z.literal(true).optional().meta({
      description:
        "They run a changed definition of that version, as the runs did, which were retries with a patch.",
    }),
    runs: z.int().meta({ example: 40 }),
    reused: z
      .record(z.string(), z.int())
      .optional()
      .meta({
        description: "Steps whose recorded outputs are reused: in how many of the runs.",
        example: { revenue: 40 },
      }),
    run: z
      .record(z.string(), z.int())
      .optional()
      .meta({
        description: "Steps that are executed: in how many of the runs.",
        example: { send: 40 },
      }),
    effects: z
      .array(
        z.strictObject({
          step: z.string().meta({ example: "send" }),
          type: z.string().meta({ example: "email" }),
          runs: z.int().meta({ description: "In how many runs it is executed.", example: 40 }),
          again: z.int().meta({
            description: "In how many of them it was attempted: its effect may happen again.",
            example: 2,
          }),
          first: z.array(z.string()).meta({
            description: "The first of these runs.",
            example: ["run_8dkq2m0sfj3a"],
          }),
        }),
      )
      .optional()
      .meta({ description: "Those of them that have effects." }),
  })
  .meta({ id: "BulkActionPlan", description: "What happens with the runs of one version of a workflow." });
export type BulkActionPlan = z.infer<typeof BulkActionPlan>;

export const BulkConcurrency = z
  .int()
  .min(1)
  .max(MAX_BULK_CONCURRENCY)
  .meta({
    description: `Of retries: how many may be unfinished at a time, 1 to ${MAX_BULK_CONCURRENCY}; default: ${DEFAULT_BULK_CONCURRENCY}. With 1 they run in order.`,
    example: 5,
  });

const summaryFields = {
  id: z.string().nullable().meta({ description: "Null in a preview.", example: "blk_8dkq2m0sfj3a" }),
  action: BulkActionKind,
  project: ProjectField,
  workflow_id: z.string().nullable().meta({
    description: "The workflow of all its runs; null if they are of several, or single steps.",
    example: "weekly-revenue",
  }),
  version: z
    .int()
    .optional()
    .meta({ description: "The version that was asked for; left out, each run keeps its own.", example: 4 }),
  rate: Rate.nullable().meta({ description: "Maximum number of runs in a time.", example: "60/m" }),
  concurrency: z.int().meta({ example: 5 }),
  status: BulkActionStatus,
  runs: z
    .strictObject({
      total: z.int().meta({ example: 40 }),
      pending: z.int().meta({ description: "Those that come next.", example: 12 }),
      done: z.int().meta({ description: "Those that were retried or cancelled.", example: 27 }),
      skipped: z.int().meta({ description: "Those with which nothing happened.", example: 1 }),
    })
    .meta({ description: "Number of runs." }),
  retries: z
    .partialRecord(RunStatus, z.int())
    .optional()
    .meta({ description: "Number of the new runs by status.", example: { succeeded: 25, failed: 2 } }),
  digest: z.string().meta({
    description:
      "Stands for the runs and what happens with them; of a cancellation, for its filter and the time of the preview. To start it, send " +
      "it with the same request.",
    example: "b3JkZXItNDA",
  }),
  reason: z.string().nullable().meta({ example: "The bank was down." }),
  message: z.string().nullable().meta({
    description: "Why it goes on with no run at the moment, or why it ended early.",
    example: null,
  }),
  started_by: z.string().meta({ description: "The owner of the key.", example: "ann@example.com" }),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
  cancelled_by: z.string().nullable().meta({ example: null }),
};

export const BulkActionSummary = z
  .strictObject(summaryFields)
  .meta({ id: "BulkActionSummary", description: "A bulk action as lists show it." });
export type BulkActionSummary = z.infer<typeof BulkActionSummary>;

export const BulkAction = z
  .strictObject({
    ...summaryFields,
    skipped: z.array(Skipped).meta({
      description: "With which runs nothing happens, and why. Those of the preview are not in `runs`.",
    }),
    plan: z.array(BulkActionPlan).meta({ description: "What it does, as the preview said." }),
    more: z
      .literal(true)
      .optional()
      .meta({ description: `More than ${MAX_BULK_RUNS} runs fit the filter; these are the newest.` }),
    next: z.string().meta({ description: "What to do next." }),
  })
  .meta({ id: "BulkAction", description: "Many runs, retried or cancelled at once." });
export type BulkAction = z.infer<typeof BulkAction>;

export const BulkActionRun = z
  .strictObject({
    position: z.int().meta({ description: "Counted from 0, the oldest run first.", example: 0 }),
    run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    workflow_id: z.string().nullable().optional().meta({ example: "weekly-revenue" }),
    status: RunStatus.optional().meta({ description: "Left out once the run is purged." }),
    created_at: timestamp.optional(),
    result: BulkActionResult.nullable().meta({ description: "Null before its turn." }),
    retry: z
      .string()
      .nullable()
      .meta({ description: "The run that retries it.", example: "run_1kq0Zr4mXw_a" }),
    retry_status: RunStatus.optional().meta({ description: "Left out once the retry is purged." }),
    reason: SkipReason.optional(),
    message: z.string().optional().meta({ description: "Why a retry could not start." }),
  })
  .meta({ id: "BulkActionRun", description: "One run of a bulk action." });
export type BulkActionRun = z.infer<typeof BulkActionRun>;
