/** The workflow language, apart from its step types: what every step has, and what stands at the top. */
import { z } from "zod";
import { exceedsDepth, MAX_JSON_DEPTH, text } from "./text.ts";

/** As many steps as a definition may have. */
export const MAX_STEPS = 2_000;

/** An expression between `${{` and `}}`, anywhere in a text. */
export const EXPRESSION_PATTERN = /\$\{\{/;

/** `500ms`, `30s`, `10m`, `1h30m`, `2d`. */
export const DURATION_PATTERN = /^(?:\d{1,9}(?:ms|s|m|h|d)){1,4}$/;

export const Duration = z
  .string()
  .regex(DURATION_PATTERN, {
    error: "must be a duration such as 500ms, 30s, 10m, 1h30m or 2d",
  })
  .meta({ description: "A duration: 500ms, 30s, 10m, 1h30m, 2d.", example: "30s" });

const StepId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, {
    error: "must be a lower-case letter, then up to 63 lower-case letters, digits or _",
  })
  .meta({
    description: "Its name in this workflow: expressions read it as steps.<id>.",
    example: "revenue",
  });

/** One CEL expression, bare or as a whole `${{ }}`. */
export const Cel = z.union([text(10_000, 1), z.boolean()]).meta({
  description: "A CEL expression, bare or as one whole ${{ }}.",
  example: "steps.revenue.row_count > 0",
});

/** A JSON Schema as people write it; what may stand in it is checked by the checker. */
export const JsonSchemaObject = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  });

const Retry = z
  .strictObject({
    attempts: z.int().min(2).max(20).meta({
      description: "How often it is tried in all, the first time included.",
      example: 4,
    }),
    backoff: z.enum(["fixed", "exponential"]).default("exponential").meta({
      description: "Whether the pause stays the same or doubles; a random part is taken off either.",
      example: "exponential",
    }),
    initial: Duration.default("1s").meta({ description: "The first pause.", example: "2s" }),
    max: Duration.default("5m").meta({ description: "The longest pause.", example: "1m" }),
    on: z
      .array(z.string())
      .min(1)
      .max(50)
      .optional()
      .meta({
        description: "Only these error codes. Left out: those that may go away by themselves.",
        example: ["http_status", "timeout"],
      }),
  })
  .meta({
    id: "Retry",
    description: "When and how often a failed attempt is repeated.",
    example: { attempts: 4, backoff: "exponential", initial: "2s" },
  });
type Retry = z.output<typeof Retry>;

/** What every step may have beside the fields of its type. */
export const COMMON_STEP_FIELDS = {
  id: StepId,
  description: text(2_000).optional().meta({
    description: "What the step is for.",
    example: "Revenue by region since the given day.",
  }),
  needs: z
    .array(z.string())
    .max(MAX_STEPS)
    .optional()
    .meta({
      description:
        "The ids of the steps it waits for, in place of the step before it in the list. [] starts at once: so steps run side by side.",
      example: ["revenue", "costs"],
    }),
  if: Cel.optional().meta({
    description: "Runs only where this is true; else it is skipped, and what follows goes on.",
    example: "steps.revenue.row_count > 0",
  }),
  for_each: Cel.optional().meta({
    description:
      "A list: the step runs once for each of its items (item, index), the results stand in order in steps.<id>.items.",
    example: "steps.customers.rows",
  }),
  concurrency: z.int().min(1).max(100).optional().meta({
    description: "With for_each: how many items run at a time; 4 when left out.",
    example: 4,
  }),
  retry: Retry.optional(),
  timeout: Duration.optional().meta({ description: "How long one attempt may take.", example: "30s" }),
  on_error: z.enum(["fail", "continue"]).optional().meta({
    description: "continue: a failure becomes the step's error field, and the run goes on.",
    example: "continue",
  }),
  cache: Duration.optional().meta({
    description: "For so long an unchanged step with unchanged input gives its last output again.",
    example: "1h",
  }),
} as const;

const Inputs = JsonSchemaObject.meta({
  description: "What a run takes: a JSON Schema of an object, with defaults.",
  example: {
    type: "object",
    properties: { since: { type: "string", format: "date", default: "2026-01-01" } },
  },
});

const Json = z.unknown();

const Schedule = z
  .strictObject({
    cron: text(200, 1).meta({
      description: "When: five fields, or six with seconds.",
      example: "0 8 * * MON",
    }),
    timezone: text(100, 1)
      .default("UTC")
      .meta({ description: "An IANA time zone.", example: "Europe/Berlin" }),
    inputs: z
      .record(z.string(), Json)
      .optional()
      .meta({
        description: "The inputs of its runs; templates that may use run.scheduled_for.",
        example: { since: "${{ run.scheduled_for }}" },
      }),
    overlap: z.enum(["skip", "queue"]).default("skip").meta({
      description: "While its last run goes on: skip this one, or let it wait its turn.",
      example: "skip",
    }),
  })
  .meta({
    id: "Schedule",
    description: "Runs it by itself; belongs to the published version.",
    example: { cron: "0 8 * * MON", timezone: "Europe/Berlin" },
  });
type Schedule = z.output<typeof Schedule>;

const Example = z
  .strictObject({
    name: text(200, 1).optional().meta({ description: "What it shows.", example: "A quiet week" }),
    inputs: z.record(z.string(), Json).default({}).meta({ description: "Inputs of a run.", example: {} }),
    expect: Json.optional().meta({
      description: "The output that the run must have; objects may leave fields out.",
      example: { best_region: "north" },
    }),
  })
  .meta({
    id: "Example",
    description: "Inputs with the output that they must give; publishing runs them.",
    example: { inputs: { since: "2026-01-01" }, expect: { best_region: "north" } },
  });

/** What stands at the top beside `steps`. */
export const TOP_FIELDS = {
  inputs: Inputs.optional(),
  output: Json.optional().meta({
    description: "What a run gives: a template. Left out: the output of the last step.",
    example: { best_region: "${{ steps.revenue.rows[0].region }}" },
  }),
  schedule: Schedule.optional(),
  examples: z
    .array(Example)
    .max(20)
    .optional()
    .meta({
      description: "Example inputs with expected outputs; publishing runs them.",
      example: [{ inputs: { since: "2026-01-01" }, expect: { best_region: "north" } }],
    }),
  timeout: Duration.optional().meta({
    description: "How long a run may take, waits included.",
    example: "1h",
  }),
  concurrency: z.int().min(1).max(1_000).optional().meta({
    description: "How many of its runs go on at a time; the others are queued.",
    example: 1,
  }),
  priority: z.int().min(-10).max(10).optional().meta({
    description: "Which goes first where there is more work than room: higher before lower; 0 when left out.",
    example: 0,
  }),
  on_failure: text(200, 1).optional().meta({
    description:
      "The id of a workflow to run when a run failed; it gets `run_id`, `workflow_id` and `error`.",
    example: "tell-the-team",
  }),
  expose_as_tool: z.boolean().optional().meta({
    description: "Whether agents see the published workflow as a tool of its own.",
    example: false,
  }),
} as const;

/** A step as it is written, whatever its type. */
export interface StepDefinition {
  id: string;
  type: string;
  description?: string | undefined;
  needs?: string[] | undefined;
  if?: string | boolean | undefined;
  for_each?: string | boolean | undefined;
  concurrency?: number | undefined;
  retry?: Retry | undefined;
  timeout?: string | undefined;
  on_error?: "fail" | "continue" | undefined;
  cache?: string | undefined;
  [field: string]: unknown;
}

/** A definition that passed its schema, defaults filled in. */
export interface Definition {
  inputs?: Record<string, unknown> | undefined;
  steps: StepDefinition[];
  output?: unknown;
  schedule?: Schedule | undefined;
  examples?: { name?: string | undefined; inputs: Record<string, unknown>; expect?: unknown }[] | undefined;
  timeout?: string | undefined;
  concurrency?: number | undefined;
  priority?: number | undefined;
  on_failure?: string | undefined;
  expose_as_tool?: boolean | undefined;
}
