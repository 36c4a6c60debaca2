/** What two runs have in common, and where they differ, as the API returns it. */
import { z } from "zod";
import { RunId, RunStep, RunSummary, StepStatus } from "./run.ts";

const durationMs = z.int().nullable().meta({
  description:
    "From its start to its end, in milliseconds; null before it has ended, and where it did not run.",
  example: 1_250,
});

const ComparedRun = RunSummary.omit({ values: true })
  .extend({ duration_ms: durationMs })
  .meta({ id: "ComparedRun", description: "One of two runs that are compared." });

const ValueDifference = z
  .strictObject({
    path: z.string().meta({
      description:
        "Where the values differ, as expressions write it; empty for the value as a whole. The index of an item that only `before` has counts in the list before.",
      example: "rows[0].region",
    }),
    before: z.unknown().optional().meta({
      description:
        "What the run before has there; left out for nothing. A large one is `{truncated: true, chars, preview, ref}`.",
      example: "north",
    }),
    after: z.unknown().optional().meta({ description: "The same of the run after.", example: "south" }),
  })
  .meta({ id: "ValueDifference", description: "A place at which two values differ." });

const ComparedValue = z
  .strictObject({
    total: z.int().meta({ description: "Number of the differences that were found.", example: 1 }),
    differences: z.array(ValueDifference).meta({ description: "The first of them." }),
    ref_before: z.string().optional().meta({
      description: "With which get_run_value returns the whole value of the run before.",
      example: "steps.revenue.output",
    }),
    ref_after: z
      .string()
      .optional()
      .meta({ description: "The same of the run after.", example: "steps.revenue.output" }),
    left_out: z.string().optional().meta({
      description: "What was not compared, or is not shown, and where it is.",
      example: "12 more differences are not shown.",
    }),
  })
  .meta({ id: "ComparedValue", description: "How a value differs. Values that are equal are left out." });
export type ComparedValue = z.infer<typeof ComparedValue>;

const { attempts, reused_from, given, items } = RunStep.shape;

const StepOfRun = z
  .strictObject({ status: StepStatus, attempts, duration_ms: durationMs, reused_from, given, items })
  .meta({ id: "StepOfRun", description: "A step in one of two runs." });
export type StepOfRun = z.infer<typeof StepOfRun>;

const valuesOfStep = {
  input: ComparedValue.optional().meta({
    description: "Of the input of the last attempt, where both runs executed it.",
  }),
  error: ComparedValue.optional(),
  output: ComparedValue.optional(),
};

const ComparedItem = z
  .strictObject({
    item: z.int().meta({ description: "Counted from 0.", example: 17 }),
    before: StepStatus.nullable().meta({ description: "Null where the run has no such item." }),
    after: StepStatus.nullable(),
    ...valuesOfStep,
  })
  .meta({ id: "ComparedItem", description: "An item of a fan-out, or an iteration, that differs." });
export type ComparedItem = z.infer<typeof ComparedItem>;

const ComparedStep = z
  .strictObject({
    id: z.string().meta({ example: "revenue" }),
    type: z.string().meta({ example: "sql" }),
    same: z.boolean().meta({
      description: "Whether nothing was found that differs. Durations and attempts may.",
      example: false,
    }),
    before: StepOfRun.nullable().meta({ description: "Null where the definition has no such step." }),
    after: StepOfRun.nullable(),
    ...valuesOfStep,
    items: z
      .strictObject({
        compared: z
          .int()
          .meta({ description: "Number of items that were compared, from the first on.", example: 40 }),
        differing: z.int().meta({ description: "Number of those that differ.", example: 2 }),
        first: z.array(ComparedItem).meta({ description: "The first of them." }),
      })
      .optional()
      .meta({ description: "Of a fan-out or a loop." }),
  })
  .meta({ id: "ComparedStep", description: "A step in two runs." });
export type ComparedStep = z.infer<typeof ComparedStep>;

const FirstDifference = z
  .strictObject({
    step_id: z
      .string()
      .optional()
      .meta({ description: "Left out for what belongs to no step.", example: "revenue" }),
    item: z.int().optional().meta({ description: "The item of a fan-out.", example: 17 }),
    field: z.enum(["inputs", "state", "definition", "status", "input", "error", "output", "committed"]).meta({
      description: "`definition` of a step: only one of the runs has it.",
      example: "output",
    }),
    path: z.string().optional().meta({ description: "The place in it.", example: "rows[0].region" }),
  })
  .meta({ id: "FirstDifference", description: "Where two runs first part." });
export type FirstDifference = z.infer<typeof FirstDifference>;

export const RunComparison = z
  .strictObject({
    before: ComparedRun.meta({ description: "The run that was compared with." }),
    after: ComparedRun,
    same: z.boolean().meta({
      description:
        "Whether all was compared, and definition, values, statuses and errors are equal. Ids, times, durations and attempts may differ.",
      example: false,
    }),
    complete: z.boolean().meta({
      description: "Whether all was compared; `notes` and `left_out` say what was not.",
      example: true,
    }),
    notes: z.array(z.string()).meta({
      description: "What else to know, such as that a run has not ended.",
      example: ["run_8dkq2m0sfj3a has not ended (running): it is compared as it is now."],
    }),
    first_difference: FirstDifference.nullable().meta({
      description: "Null where none was found. Inputs come first, then each step in order.",
    }),
    definition: z
      .strictObject({
        difference: z.string().nullable().meta({
          description:
            "The changed lines of the YAML form, with three lines around them; null if the definitions are too long to compare here.",
          example: "-     region: north\n+     region: south\n",
        }),
      })
      .optional()
      .meta({ description: "Left out where both are equal." }),
    inputs: ComparedValue.optional(),
    state: ComparedValue.optional().meta({ description: "Of the state of the workflow that they read." }),
    steps: z.array(ComparedStep).meta({ description: "The steps of either definition, in order." }),
    output: ComparedValue.optional(),
    error: ComparedValue.optional(),
    committed: ComparedValue.optional().meta({ description: "Of the state that they committed." }),
  })
  .meta({ id: "RunComparison", description: "Two runs, and where they differ." });
export type RunComparison = z.infer<typeof RunComparison>;

export const OtherRunId = RunId.optional().meta({
  description:
    "The id of the run to compare with. Default: the last run of the same workflow that was created before it and succeeded, trials left out.",
  example: "run_1kq0Zr4mXw_a",
});
