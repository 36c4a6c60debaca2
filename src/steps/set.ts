import { z } from "zod";
import type { PartialIssue } from "../core/connections.ts";
import { mapOf, ANY } from "../core/shapes.ts";
import { StepError } from "../core/step-errors.ts";
import { defineStepType, template } from "../core/step-type.ts";

/** What every step's object has already, so no value of a set step can have these names. */
const RESERVED: ReadonlySet<string> = new Set(["status", "error", "items"]);

/** What expressions can read as steps.<id>.<name>. */
const Name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, {
  error: "must be a letter, then up to 63 letters, digits or _",
});

const reserved = (name: string): PartialIssue => ({
  path: ["values", name],
  code: "reserved_name",
  message: `${name} is what every step has in expressions; a value can't be called so`,
  fix: `Give it another name, such as ${name}_value.`,
});

export const setStep = defineStepType({
  type: "set",
  title: "Set values",
  description:
    "Shapes values: names things once, picks and reorders what earlier steps gave. Later steps read steps.<id>.<name>.",
  fields: {
    values: template(
      z
        .record(Name, z.unknown())
        .refine((values) => Object.keys(values).length <= 1_000, { message: "must be at most 1,000 values" })
        .meta({
          description: "Names and their values; whole ${{ }} keep their type.",
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
  instant: true,
  hasEffects: () => false,
  resource: () => null,
  check: (step, ctx) => {
    const shape = ctx.shapeOf("values");
    const names = namesOf(step["values"]) ?? (shape.kind === "object" ? Object.keys(shape.fields) : []);
    const issues = names.filter((name) => RESERVED.has(name)).map(reserved);
    return Promise.resolve({ issues, output: shape.kind === "object" ? shape : mapOf(ANY) });
  },
  run: ({ values }) => {
    const name = Object.keys(values).find((it) => RESERVED.has(it));
    if (name === undefined) return Promise.resolve({ kind: "done", output: values });
    const { message, fix } = reserved(name);
    return Promise.reject(new StepError("input_invalid", message, { ...(fix !== undefined && { fix }) }));
  },
});

/** The names where the values are written one by one; undefined where one expression gives them all. */
const namesOf = (values: unknown): string[] | undefined =>
  typeof values === "object" && values !== null ? Object.keys(values) : undefined;
