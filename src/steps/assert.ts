import { z } from "zod";
import { text } from "../../schemas/text.ts";
import { BOOLEAN, objectOf, type Shape } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { cel, defineStepType, template } from "../core/step-type.ts";

/** The kinds that a condition accepts: null counts as false. */
const CONDITION_KINDS: ReadonlySet<Shape["kind"]> = new Set(["any", "null", "boolean"]);

function compute({ that, message }: { that: boolean | null; message: string }): { ok: true } {
  if (that === true) return { ok: true };
  throw new StepError("assert_failed", message);
}

export const assertStep = defineStepType({
  type: "assert",
  title: "Assert",
  description: "Fails the run with a message unless a condition is true.",
  fields: {
    that: cel(
      z.boolean().nullable().meta({
        description: "The condition: a CEL expression that returns a boolean. Null counts as false.",
        example: "steps.revenue.row_count > 0",
      }),
    ),
    message: template(
      text(10_000, 1).default("The condition is not true.").meta({
        description: "The error message of the failure.",
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
  compute,
  condition: "that",
  hasEffects: () => false,
  resource: () => null,
  check: (_step, ctx) => {
    const { kind } = ctx.shapeOf("that");
    if (CONDITION_KINDS.has(kind)) return Promise.resolve({ issues: [] });
    const actual = kind === "string" ? "text" : `${kind === "object" ? "an" : "a"} ${kind}`;
    const message = `must be a boolean, but the expression returns ${actual}`;
    const fix = "Compare it with a value, for example > 0 or != null.";
    return Promise.resolve({ issues: [{ path: ["that"], code: "wrong_type", message, fix }] });
  },
  run: async (input) => ({ kind: "done", output: compute(input) }),
});
