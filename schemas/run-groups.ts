/** Groups of runs, as the API returns them. */
import { z } from "zod";
import { RunStatus } from "./run.ts";
import { timestamp } from "./text.ts";

/** What runs can be grouped by besides expressions. `hour`, `day` and `month` are those in which a run was created. */
export const GROUP_FIELDS = [
  "workflow_id",
  "version",
  "status",
  "trigger",
  "error_code",
  "failed_step",
  "hour",
  "day",
  "month",
] as const;
export type GroupField = (typeof GROUP_FIELDS)[number];

/** Number of groups that are returned unless a caller asks for another one, and the maximum. */
export const DEFAULT_GROUPS = 50;
export const MAX_GROUPS = 1_000;
/** Maximum number of runs that one request reads; fewer if it reads their values. */
export const MAX_GROUPED_RUNS = 50_000;
export const MAX_GROUPED_RUNS_WITH_VALUES = 5_000;

const runAt = z.strictObject({
  run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
  created_at: timestamp,
});

const RunMeasure = z
  .strictObject({
    runs: z.int().meta({ description: "Number of runs with a number there.", example: 57 }),
    min: z.union([z.number(), z.string()]).meta({ example: 12.5 }),
    max: z.union([z.number(), z.string()]).meta({ example: 1204.5 }),
    sum: z
      .union([z.number(), z.string()])
      .nullable()
      .meta({ description: "Exact; null with more digits than a number may have.", example: 30_112.25 }),
    mean: z.number().nullable().meta({ description: "Rounded to a double.", example: 528.285 }),
  })
  .meta({
    id: "RunMeasure",
    description:
      "A number of the runs of a group. One that a double does not hold is a text with its digits.",
  });

export const RunGroup = z
  .strictObject({
    by: z.record(z.string(), z.unknown()).meta({
      description:
        "What its runs have in common, by the names of `group_by`; without those that they have no value of. A large value is `{truncated: true, chars, preview}`.",
      example: { version: 3, "output.currency": "EUR" },
    }),
    runs: z.int().meta({ description: "Number of its runs.", example: 57 }),
    statuses: z.partialRecord(RunStatus, z.int()).meta({
      description: "Their number by status.",
      example: { succeeded: 55, failed: 2 },
    }),
    first: runAt.meta({ description: "The run of it that was created first." }),
    last: runAt.meta({ description: "The run of it that was created last." }),
    duration_ms: z
      .strictObject({
        median: z.int().meta({ example: 1_250 }),
        p95: z.int().meta({ example: 4_010 }),
      })
      .optional()
      .meta({ description: "From start to end, of the runs that have ended; left out if none has." }),
    measures: z
      .record(z.string(), RunMeasure)
      .optional()
      .meta({ description: "Those of `measures` of which a run has a number." }),
  })
  .meta({ id: "RunGroup", description: "Runs that have something in common." });
export type RunGroup = z.infer<typeof RunGroup>;

const WithoutValue = z
  .strictObject({
    expression: z.string().meta({ example: "output.currency" }),
    runs: z.int().meta({ description: "Number of runs of which it has no value.", example: 12 }),
    run_id: z.string().meta({ description: "One of them.", example: "run_8dkq2m0sfj3a" }),
    message: z.string().meta({
      description: "Why it has none in this run.",
      example: "The expression reads the field currency, which the object lacks.",
    }),
  })
  .meta({ id: "WithoutValue", description: "An expression that some runs have no value of." });

export const RunGroups = z
  .strictObject({
    groups: z.array(RunGroup).meta({ description: "In the order of what they are grouped by." }),
    total: z.int().meta({ description: "Number of all groups.", example: 7 }),
    runs: z.int().meta({ description: "Number of runs in all groups.", example: 300 }),
    read: z.int().meta({
      description: "Number of runs that were read: those of the filters, before `where`.",
      example: 312,
    }),
    complete: z.boolean().meta({ description: "Whether all runs of the filters were read.", example: true }),
    where: z.string().optional().meta({
      description: "The condition as it was read, where it was written in another syntax.",
      example: "output.total == 3",
    }),
    without_value: z
      .array(WithoutValue)
      .optional()
      .meta({ description: "Expressions that some runs have no value of; `where` leaves these runs out." }),
    next: z.string().optional().meta({
      description: "What is left out, and how to get it.",
      example:
        "These are the 50 groups with the most runs, of 120: 31 runs are in the others. Send a higher max_groups, or where.",
    }),
  })
  .meta({ id: "RunGroups", description: "Runs in groups." });
export type RunGroups = z.infer<typeof RunGroups>;
