import { z } from "zod";
import type { PartialIssue } from "../core/connections.ts";
import { mapOf, ANY } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, template } from "../core/step-type.ts";

/** Fields that every step has in expressions, so a value of a set step can't have these names. */
const RESERVED: ReadonlySet<string> = new Set(["status", "error", "items"]);

const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, {
  error: "must be a letter, then up to 63 letters, digits or _",
});

const reservedNameIssue = (name: string): PartialIssue => ({
  path: ["values", name],
  code: "reserved_name",
  message: `must not be named ${name}, which every step has in expressions`,
  fix: `Rename it, for example to ${name}_value.`,
});

function compute({ values }: { values: Record<string, unknown> }): Record<string, unknown> {
  const name = Object.keys(values).find((key) => RESERVED.has(key));
  if (name === undefined) return values;
  const { message, fix } = reservedNameIssue(name);
  throw new StepError("input_invalid", `A value ${message}.`, { ...(fix !== undefined && { fix }) });
}

export const setStep = defineStepType({
  type: "set",
  title: "Set values",
  description:
    "Computes named values from inputs and the outputs of earlier steps. Later steps read them as steps.<id>.<name>.",
  fields: {
    values: template(
      z
        .record(Name, z.unknown())
        .refine((values) => Object.keys(values).length <= 1_000, {
          message: "must have at most 1,000 values",
        })
        .meta({
          description: "Names with their values. A value that is one ${{ }} keeps its type.",
          example: { best: "${{ steps.revenue.rows[0].region }}", since: "${{ inputs.since }}" },
        }),
    ),
  },
  example: {
    id: "shaped",
    type: "set",
    values: {
      regions: "${{ steps.revenue.rows.map(r, r.region) }}",
      total: "${{ steps.revenue.rows.map(r, r.total).sum() }}",
    },
  },
  output: mapOf(ANY),
  timeoutMs: null,
  compute,
  hasEffects: () => false,
  resource: () => null,
  check: (step, ctx) => {
    const shape = ctx.shapeOf("values");
    const names = namesOf(step["values"]) ?? (shape.kind === "object" ? Object.keys(shape.fields) : []);
    const issues = names.filter((name) => RESERVED.has(name)).map(reservedNameIssue);
    return Promise.resolve({ issues, output: shape.kind === "object" ? shape : mapOf(ANY) });
  },
  run: async (input) => ({ kind: "done", output: compute(input) }),
});

/** Returns the names of the values; undefined if one expression computes all of them. */
const namesOf = (values: unknown): string[] | undefined =>
  typeof values === "object" && values !== null ? Object.keys(values) : undefined;
