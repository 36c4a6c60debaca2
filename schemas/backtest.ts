/** Backtests: the runs of the past, run again as dry runs with another definition, as the API returns them. */
import { z } from "zod";
import { ProjectField } from "./project.ts";
import { Difference } from "./difference.ts";
import { RunStatus } from "./run.ts";
import { text, timestamp } from "./text.ts";

/** Number of runs that are shown with what differs in them. */
export const SHOWN_RUNS = 5;

export const BacktestId = text(100, 1).meta({
  description: "The backtest's id, from backtest_workflow or list_backtests.",
  example: "bt_8dkq2m0sfj3a",
});

export const BacktestStatus = z.enum(["running", "finished", "failed", "cancelled"]).meta({
  description: "`finished`: every run was compared. `failed`: it could not go on; `message` says why.",
  example: "finished",
});
export type BacktestStatus = z.infer<typeof BacktestStatus>;

export const BacktestResult = z.enum(["equal", "different", "failing", "not_comparable"]).meta({
  description:
    "`equal`: same end, output, state and effects. `failing`: fails with this definition, and did not fail so before. " +
    "`not_comparable`: `reason` says why.",
  example: "equal",
});
export type BacktestResult = z.infer<typeof BacktestResult>;

export const BacktestReads = z.enum(["recorded", "live"]).meta({
  description:
    "Where the input of a query or another step that only reads has changed: `live` runs it, `recorded` calls nothing, and the run is not comparable.",
  example: "recorded",
});
export type BacktestReads = z.infer<typeof BacktestReads>;

/** Why a run could not be compared. */
export const NotComparable = z
  .enum(["new_step", "changed_read", "failed_before", "stopped", "purged", "undo_changed"])
  .meta({
    description:
      "`new_step`: a step with effects that the run did not execute, and whose output is read. `changed_read`: a query or call has another " +
      "input; `reads: live` runs it. `failed_before`: the step failed with another input, so nobody knows what it returns now. `stopped`: the run was " +
      "cancelled or timed out. `purged`: the run, or a value of it, is no longer stored. `undo_changed`: the run undid steps, and what undoes them has changed.",
    example: "changed_read",
  });
export type NotComparable = z.infer<typeof NotComparable>;

/** What differs in one run. */
export const BacktestDifference = z
  .strictObject({
    reason: NotComparable.optional(),
    step: z.string().optional().meta({ description: "The first step that differs.", example: "revenue" }),
    item: z.int().optional().meta({ description: "In a fan-out: which item.", example: 3 }),
    message: z.string().meta({ example: "The output has another total." }),
    fix: z.string().optional(),
    differences: z.array(Difference).meta({ description: "Its first fields that differ." }),
  })
  .meta({ id: "BacktestDifference", description: "Where a run and its replay first part." });
export type BacktestDifference = z.infer<typeof BacktestDifference>;

/** The effects of one step over all runs. */
export const BacktestEffect = z
  .strictObject({
    step: z.string().meta({ example: "send" }),
    type: z.string().meta({ example: "email" }),
    unchanged: z.int().meta({ description: "Number of executions with the same input.", example: 198 }),
    changed: z.int().meta({ description: "Those with another input.", example: 2 }),
    added: z.int().meta({ description: "Those that the runs did not have.", example: 0 }),
    removed: z.int().meta({ description: "Those that only the runs had.", example: 0 }),
    first: z
      .strictObject({
        run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
        differences: z.array(Difference),
      })
      .optional()
      .meta({ description: "The first one that changed." }),
  })
  .meta({
    id: "BacktestEffect",
    description: "What a step would send, write or ask, beside what it did.",
  });
export type BacktestEffect = z.infer<typeof BacktestEffect>;

const Amount = (description: string) =>
  z
    .strictObject({ before: z.number(), after: z.number() })
    .meta({ description, example: { before: 1200, after: 800 } });

/** What all runs together say, once a backtest has ended. */
export const BacktestSummary = z
  .strictObject({
    effects: z
      .array(BacktestEffect)
      .meta({ description: "Steps with effects. Over MCP, those that differ." }),
    differing: z
      .array(z.strictObject({ name: z.string(), runs: z.int() }))
      .optional()
      .meta({
        description:
          "What differs by name, in how many runs; the most frequent ones. `publish_workflow` accepts them by these names.",
        example: [{ name: "output.note", runs: 12 }],
      }),
    reasons: z.partialRecord(NotComparable, z.int()).meta({
      description: "Number of runs that are not comparable, by reason.",
      example: { changed_read: 2 },
    }),
    step_ms: Amount(
      "The time of steps that call something, in milliseconds; of reused outputs, the recorded time.",
    ),
    tokens: Amount("Tokens of models, input and output."),
    cost: Amount("Cost of models, in the unit of the configured prices; 0 without prices."),
  })
  .meta({ id: "BacktestSummary" });
export type BacktestSummary = z.infer<typeof BacktestSummary>;

export const BacktestRun = z
  .strictObject({
    position: z.int().meta({ description: "Counted from 0, the newest run first.", example: 0 }),
    run_id: z.string().meta({ description: "The run of the past.", example: "run_8dkq2m0sfj3a" }),
    replay: z.string().nullable().meta({
      description: "The dry run with the definition; null before it starts.",
      example: "run_1kq0Zr4mXw_a",
    }),
    status: RunStatus.optional().meta({
      description: "How the run of the past ended; left out once it is purged.",
    }),
    created_at: timestamp.optional().meta({ description: "When the run of the past was created." }),
    result: BacktestResult.nullable().meta({ description: "Null before it ends." }),
    difference: BacktestDifference.optional(),
  })
  .meta({ id: "BacktestRun", description: "One run of the past, and its replay." });
export type BacktestRun = z.infer<typeof BacktestRun>;

export const Backtest = z
  .strictObject({
    id: z.string().meta({ example: "bt_8dkq2m0sfj3a" }),
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    project: ProjectField,
    version: z
      .int()
      .meta({ description: "The version that it tests, or that its draft changes.", example: 3 }),
    draft: z.literal(true).optional().meta({ description: "It tests a definition that is not saved." }),
    source_workflow_id: z.string().optional().meta({
      description: "Where its runs come from another workflow: that one.",
      example: "revenue-old",
    }),
    reads: BacktestReads,
    status: BacktestStatus,
    runs: z
      .strictObject({
        total: z.int().meta({ example: 200 }),
        pending: z.int().meta({ description: "Those that have not ended.", example: 0 }),
        equal: z.int().meta({ example: 198 }),
        different: z.int().meta({ example: 2 }),
        failing: z.int().meta({ example: 0 }),
        not_comparable: z.int().meta({ example: 0 }),
      })
      .meta({ description: "Number of runs by result." }),
    first: z.array(BacktestRun).meta({
      description: "The first runs that are not equal: failing ones, then different ones, then the others.",
    }),
    ...BacktestSummary.partial().shape,
    message: z.string().nullable().meta({
      description: "Why it starts no run at the moment, or why it failed.",
      example: null,
    }),
    started_by: z.string().meta({ description: "The owner of the key.", example: "ann@example.com" }),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    cancelled_by: z.string().nullable().meta({ example: null }),
    next: z.string().optional().meta({ description: "What to do next." }),
  })
  .meta({
    id: "Backtest",
    description: "Runs of the past, run again as dry runs with another definition.",
  });
export type Backtest = z.infer<typeof Backtest>;
