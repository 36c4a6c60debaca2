import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { BOOLEAN, objectOf, type Shape } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { cel, defineStepType, template } from "../core/step-type.ts";

/** Null is false; whether anything else holds would be guessing. */
const CONDITION: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

export const assertStep = defineStepType({
  type: "assert",
  title: "Assert",
  description: "Fails the run with its message unless a condition holds: a gate for the quality of data.",
  fields: {
    that: cel(
      z.boolean().nullable().meta({
        description: "What must hold: a CEL expression that gives true or false. Null is false.",
        example: "steps.revenue.row_count > 0",
      }),
    ),
    message: template(
      text(10_000, 1).default("The condition does not hold.").meta({
        description: "What the failure says.",
        example: "There are no orders since ${{ inputs.since }}.",
      }),
    ),
  },
  example: {
    id: "any_orders",
    type: "assert",
    that: "steps.revenue.row_count > 0",
    message: "There are no orders since ${{ inputs.since }}.",
  },
  output: objectOf({ ok: BOOLEAN }),
  timeoutMs: null,
  instant: true,
  hasEffects: () => false,
  resource: () => null,
  check: (_step, ctx) => {
    const { kind } = ctx.shapeOf("that");
    if (CONDITION.has(kind)) return Promise.resolve({ issues: [] });
    const message = `must give true or false, not a ${kind}`;
    const fix = "Compare it with something, such as > 0 or != null.";
    return Promise.resolve({ issues: [{ path: ["that"], code: "wrong_type", message, fix }] });
  },
  run: ({ that, message }) =>
    that === true
      ? Promise.resolve({ kind: "done", output: { ok: true } })
      : Promise.reject(new StepError("assert_failed", message)),
});
