/** The rule that publishing needs a backtest, and what differs from the runs of the past by name. */
import { z } from "zod";
import { MAX_NAME_CHARS, NAME_ROOTS, WRITTEN_NAME } from "./difference-names.ts";
import { shortSchemas } from "./short-schemas.ts";
import { text } from "./text.ts";

/** Maximum number of runs of a backtest. */
export const MAX_BACKTEST_RUNS = 1_000;
/** Maximum number of names of a run, in a rule, in an error, and of those that a publication accepts. */
export const MAX_NAMES = 100;

const DifferenceName = text(MAX_NAME_CHARS, 1)
  .regex(WRITTEN_NAME, {
    error: `must be the name of a place, such as output.note or steps.send.input.subject, that begins with ${NAME_ROOTS.join(", ")}`,
  })
  .meta({
    description:
      "A place that may differ, with all below it: `output.note`, `committed.last_id`, `steps.send` (its effects), `steps.send.input.subject`. " +
      "Or `error` (it fails now), `status`, `on_failure`, `given.<step>`, `not_comparable.<reason>`, `definition.schedule`.",
    example: "output.note",
  });

export const BacktestRule = z
  .strictObject({
    last: z.int().min(1).max(MAX_BACKTEST_RUNS).meta({ description: "Number of runs.", example: 100 }),
    allow: z
      .array(DifferenceName)
      .max(MAX_NAMES)
      .optional()
      .meta({ description: "What may differ.", example: ["output.note"] }),
  })
  .meta({
    id: "BacktestRule",
    description: "Publishing needs a backtest; allow and accept_differences say what may differ.",
    example: { last: 100 },
  });
export type BacktestRule = z.infer<typeof BacktestRule>;

/** Its short form for `tools/list`. */
export const SHORT_BACKTEST_RULE = {
  type: ["object", "null"],
  properties: { last: { type: "integer" }, allow: { type: "array" } },
  additionalProperties: false,
  description: "For publishing.",
};

export const AcceptDifferences = z
  .array(DifferenceName)
  .max(MAX_NAMES)
  .default([])
  .meta({ description: "What may differ in the backtest that publishing needs.", example: ["output.note"] })
  .register(shortSchemas, {
    type: "array",
    items: { type: "string" },
    description: "Of its backtest.",
  });

/** The backtest that a publication passed, as the history of versions and a change request keep it. */
export const PassedBacktest = z
  .strictObject({
    id: z.string().nullable().meta({
      description: "Null where there were no runs yet.",
      example: "bt_8dkq2m0sfj3a",
    }),
    rule: z.strictObject({ last: z.int(), allow: z.array(z.string()) }).meta({
      description: "The rule that it met, of the workflow and its project together.",
      example: { last: 100, allow: ["output.note"] },
    }),
    runs: z
      .strictObject({
        total: z.int().meta({ example: 100 }),
        equal: z.int().meta({ example: 88 }),
        different: z.int().meta({ example: 12 }),
        failing: z.int().meta({ example: 0 }),
        not_comparable: z.int().meta({ example: 0 }),
      })
      .meta({ description: "Number of runs by result." }),
    allowed: z
      .array(z.string())
      .meta({ description: "The names of the rule that it needed.", example: ["output.note"] }),
    accepted: z.array(z.string()).meta({
      description: "The names that who published it accepted.",
      example: ["output.total"],
    }),
  })
  .meta({
    id: "PassedBacktest",
    description: "The backtest that it passed before it was published, where one was needed.",
  });
export type PassedBacktest = z.infer<typeof PassedBacktest>;
