/** `repeat` of a step: a loop until a condition is true. */
import { z } from "zod";
import { Cel, Duration } from "./field-values.ts";

const LoopVariable = z
  .strictObject({
    start: z.unknown().meta({ description: "Its value in the first iteration.", example: 1 }),
    next: Cel.meta({
      description: "A CEL expression of its value in the next iteration; may read result and loop.",
      example: "loop.page + 1",
    }),
  })
  .refine((variable) => Object.hasOwn(variable, "start"), {
    path: ["start"],
    message: "is required",
    params: { code: "missing" },
  });

/** Maximum number of iterations of a `repeat`. */
export const MAX_ITERATIONS = 1_000;

export const Repeat = z
  .strictObject({
    until: Cel.optional().meta({
      description:
        "Ends the loop when true. A CEL expression; may read result (the output and status of the iteration) and loop. Left out: it runs max times.",
      example: "result.body.next == null",
    }),
    max: z.int().min(1).max(MAX_ITERATIONS).meta({
      description: "Maximum number of iterations. If until is still false then: repeat_exhausted.",
      example: 50,
    }),
    every: Duration.optional().meta({ description: "Pause between iterations.", example: "30s" }),
    with: z
      .record(
        z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,63}$/, {
            error: "must be a lower-case letter followed by up to 63 lower-case letters, digits or _",
          })
          .refine((name) => name !== "index", {
            message: "must not be named index, which every loop has: it counts the iterations from 0",
            params: { code: "reserved_name" },
          }),
        LoopVariable,
      )
      .refine((variables) => Object.keys(variables).length <= 20, {
        message: "must have at most 20 variables",
        params: { code: "too_long" },
      })
      .optional()
      .meta({
        description:
          "Variables that change from iteration to iteration. The fields of the step read loop.<name>.",
        example: { page: { start: 1, next: "loop.page + 1" } },
      }),
  })
  .meta({
    id: "Repeat",
    description:
      "Repeats the step, at least once. Its fields may read loop (loop.index from 0). Output: items, last, count.",
    example: {
      until: "result.body.next == null",
      max: 50,
      with: { page: { start: 1, next: "loop.page + 1" } },
    },
  });
export type Repeat = z.output<typeof Repeat>;
