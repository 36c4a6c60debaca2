/** The workflow language without its step types: the fields of every step, and the top-level fields. */
import { z } from "zod";
import { BacktestRule } from "./backtest-rule.ts";
import { Cel, Duration, JsonSchemaObject, Rate } from "./field-values.ts";
import { Given } from "./given.ts";
import { OnInterrupted } from "./interruption.ts";
import { MailAddress } from "./mail-address.ts";
import { Repeat } from "./repeat.ts";
import { text } from "./text.ts";
import { Trigger } from "./trigger.ts";

/** Maximum number of steps of a definition. */
export const MAX_STEPS = 2_000;
/** Maximum number of triggers of a definition. */
const MAX_TRIGGERS = 20;

const StepId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, {
    error: "must be a lower-case letter followed by up to 63 lower-case letters, digits or _",
  })
  .meta({
    description: "The name of the step in this workflow. Expressions read it as steps.<id>.",
    example: "revenue",
  });

const Retry = z
  .strictObject({
    attempts: z.int().min(2).max(20).meta({
      description: "Maximum number of attempts, the first one included.",
      example: 4,
    }),
    backoff: z.enum(["fixed", "exponential"]).default("exponential").meta({
      description:
        "Whether the pause stays the same or doubles. A random part of up to half is subtracted; a Retry-After of the response is waited for at least.",
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
        description:
          "Error codes to retry. Default: temporary errors (of http_status those with 408, 425, 429 and 5xx).",
        example: ["http_status", "timeout"],
      }),
  })
  .meta({
    id: "Retry",
    description: "When and how often a failed attempt is retried.",
    example: { attempts: 4, backoff: "exponential", initial: "2s" },
  });
type Retry = z.output<typeof Retry>;

const Cache = z
  .union([
    Duration,
    z.strictObject({
      for: Duration,
      despite_effects: z.literal(true).optional().meta({
        description: "Required on a step with effects: they do not happen while its output is reused.",
        example: true,
      }),
    }),
  ])
  .meta({
    id: "Cache",
    description:
      "How long the output is reused while the step, its input and the configuration of what it calls are unchanged. On a step with effects: { for, despite_effects: true }.",
    example: "1h",
  });

/** The fields that every step may have in addition to those of its type. */
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
        "Ids of the steps it waits for. Default: the step before it in the list. [] starts at once, so that steps run in parallel.",
      example: ["revenue", "costs"],
    }),
  if: Cel.optional().meta({
    description: "Runs the step only if this is true. Else it is skipped and the steps after it run.",
    example: "steps.revenue.row_count > 0",
  }),
  for_each: Cel.optional().meta({
    description:
      "A list: the step runs once per item (item, index); for an empty list it succeeds without running. steps.<id>.items[i] is the result of the i-th item.",
    example: "steps.customers.rows",
  }),
  repeat: Repeat.optional(),
  concurrency: z.int().min(1).max(100).optional().meta({
    description: "With for_each: maximum number of items that run at a time. Default: 4.",
    example: 4,
  }),
  retry: Retry.optional(),
  timeout: Duration.optional().meta({ description: "Maximum duration of one attempt.", example: "30s" }),
  rate: Rate.optional().meta({
    description: "How often it may start, over all runs and executors; the starts are spread evenly.",
    example: "5/s",
  }),
  on_error: z.enum(["fail", "continue"]).optional().meta({
    description: "continue: a failure sets the error field of the step, and the run continues.",
    example: "continue",
  }),
  cache: Cache.optional(),
  on_interrupted: OnInterrupted.optional(),
  lookup: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({
      description:
        "A request that finds out whether the effect of an interrupted attempt happened, before it is repeated: a step that only reads (type, the fields of that type, retry and timeout), with `happened`, a condition that reads its output as result, and `output`, what the step returns then. Expressions read idempotency_key.",
      example: {
        type: "http",
        url: "https://pay.example.com/payments?reference=${{ run.id }}",
        happened: "size(result.body) > 0",
        output: { status_code: 201, headers: {}, body: "${{ result.body[0] }}" },
      },
    }),
  undo: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({
      description:
        "What undoes the step when the run fails, times out or is cancelled after it succeeded: type, the fields of that type, retry and timeout. Expressions read its output as result. The last succeeded step is undone first.",
      example: { type: "http", method: "DELETE", url: "https://api.example.com/holds/${{ result.body.id }}" },
    }),
} as const;

const Inputs = JsonSchemaObject.meta({
  description: "The inputs of a run: a JSON Schema of an object, with defaults.",
  example: {
    type: "object",
    properties: { since: { type: "string", format: "date", default: "2026-01-01" } },
  },
});

const Json = z.unknown();

const StateKey = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, {
  error: "must be a letter or _, followed by up to 63 letters, digits or _",
});

const Schedule = z
  .strictObject({
    cron: text(200, 1).meta({
      description:
        "A cron expression of five fields, or six with seconds first. A day of the month beside a weekday means either; `+FRI` as the weekday means both.",
      example: "0 8 * * MON",
    }),
    timezone: text(100, 1)
      .default("UTC")
      .meta({ description: "An IANA time zone.", example: "Europe/Berlin" }),
    inputs: z
      .record(z.string(), Json)
      .optional()
      .meta({
        description: "The inputs of scheduled runs. Templates in them may read run.scheduled_for.",
        example: { since: "${{ run.scheduled_for }}" },
      }),
    overlap: z.enum(["skip", "queue"]).default("skip").meta({
      description: "While the previous run is still running: skip this one, or queue it.",
      example: "skip",
    }),
  })
  .meta({
    id: "Schedule",
    description: "When the workflow runs automatically. The schedule of the published version applies.",
    example: { cron: "0 8 * * MON", timezone: "Europe/Berlin" },
  });
type Schedule = z.output<typeof Schedule>;

const MustSucceed = z
  .strictObject({
    every: Duration.meta({
      description: "A run must have succeeded within this time, of the publication and of the last success.",
      example: "24h",
    }),
    mail: z
      .array(MailAddress)
      .max(20)
      .optional()
      .meta({
        description: "Who gets a mail when none has, in addition to who published the workflow.",
        example: ["ada@example.com"],
      }),
  })
  .meta({
    id: "MustSucceed",
    description:
      "Within which time the published workflow must succeed. When it has not, there is one alert: the event workflow.overdue and a mail. The next success ends it.",
    example: { every: "24h" },
  });
type MustSucceed = z.output<typeof MustSucceed>;

const Example = z
  .strictObject({
    name: text(200, 1).optional().meta({ description: "What the example shows.", example: "A quiet week" }),
    inputs: z.record(z.string(), Json).default({}).meta({ description: "Inputs of a run.", example: {} }),
    given: Given.optional().meta({
      description:
        "Outputs by step id, which replace the steps. from_run takes them from a run of the workflow: those of the step ids in steps, else of all steps but set and assert. Needed for each step with effects, which is never executed for an example.",
      example: { send: { message_id: "1@example.com" } },
    }),
    expect: Json.optional().meta({
      description:
        "The expected output of the run: equal, but objects may omit fields. Lists must have the same items in the same order.",
      example: { best_region: "north" },
    }),
    assert: z
      .array(Cel)
      .min(1)
      .max(20)
      .optional()
      .meta({
        description: "CEL expressions that must be true after the run; may read output, inputs and steps.",
        example: ["output.total > 100", "steps.revenue.row_count == 2"],
      }),
  })
  .meta({
    id: "Example",
    description:
      "Inputs with their expected output. Publishing runs the examples as trials, without effects.",
    example: { inputs: { since: "2026-01-01" }, expect: { best_region: "north" } },
  });

/** The top-level fields other than `steps`. */
export const TOP_FIELDS = {
  inputs: Inputs.optional(),
  output: Json.optional().meta({
    description: "The output of a run: a template. Default: the output of the last step.",
    example: { best_region: "${{ steps.revenue.rows[0].region }}" },
  }),
  output_schema: JsonSchemaObject.optional().meta({
    description:
      "A JSON Schema of the output. Callers rely on it, and a run fails whose output does not match it.",
    example: { type: "object", properties: { best_region: { type: "string" } }, required: ["best_region"] },
  }),
  state: z
    .record(StateKey, JsonSchemaObject)
    .optional()
    .meta({
      description:
        "Values that runs leave for later ones: for each key a JSON Schema with a default. Expressions read state.<key> as it was when the run started.",
      example: { last_id: { type: "integer", default: 0 } },
    }),
  commit: z
    .record(z.string(), Json)
    .optional()
    .meta({
      description:
        "New values of state, evaluated like output and written with the success of the run; other keys keep theirs. If another run wrote since this one started, it fails with state_conflict.",
      example: { last_id: "${{ steps.fresh.rows.map(r, r.id).max() ?? state.last_id }}" },
    }),
  schedule: Schedule.optional(),
  triggers: z
    .array(Trigger)
    .max(MAX_TRIGGERS)
    .optional()
    .meta({
      description:
        "Webhooks that start runs: {id, type: webhook, signature: {scheme, secret}, payload or sample, if, inputs, deduplicate}. GET /workflows/<id>/triggers has the URLs.",
      example: [
        {
          id: "pushed",
          type: "webhook",
          signature: { scheme: "github", secret: "github-hook" },
          if: 'event.headers["x-github-event"] == "push"',
          inputs: { ref: "${{ event.body.ref }}" },
        },
      ],
    }),
  examples: z
    .array(Example)
    .max(20)
    .optional()
    .meta({
      description: "Example inputs with expected outputs. Publishing runs them as trials, without effects.",
      example: [{ inputs: { since: "2026-01-01" }, expect: { best_region: "north" } }],
    }),
  timeout: Duration.optional().meta({
    description: "Maximum duration of a run, waits included.",
    example: "1h",
  }),
  concurrency: z.int().min(1).max(1_000).optional().meta({
    description: "Maximum number of runs at a time. Further runs are queued.",
    example: 1,
  }),
  priority: z.int().min(-10).max(10).optional().meta({
    description: "Orders your own runs when all executors are busy: higher first. Default: 0.",
    example: 0,
  }),
  must_succeed: MustSucceed.optional(),
  backtest: BacktestRule.optional(),
  on_failure: text(200, 1).optional().meta({
    description:
      "The id of a workflow that runs when a run fails. Its inputs are `run_id`, `workflow_id` and `error`.",
    example: "tell-the-team",
  }),
  expose_as_tool: z.boolean().optional().meta({
    description: "Whether agents get the published workflow as a separate tool, once an admin allows it.",
    example: false,
  }),
  tool_name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,29}$/, {
      error: "must be a small letter, then small letters, digits and _, at most 30 characters",
    })
    .optional()
    .meta({
      description: "Its name.",
      example: "revenue",
    }),
} as const;

/** What undoes a step: the fields of a step type, with its expressions unresolved. */
interface UndoDefinition {
  type: string;
  description?: string | undefined;
  retry?: Retry | undefined;
  timeout?: string | undefined;
  [field: string]: unknown;
}

/** What finds out whether the effect of a step happened: the fields of a step type that only reads, and what follows from its output. */
interface LookupDefinition extends UndoDefinition {
  happened: string | boolean;
  output?: unknown;
}

/** A step of any type, with its expressions unresolved. */
export interface StepDefinition {
  id: string;
  type: string;
  description?: string | undefined;
  needs?: string[] | undefined;
  if?: string | boolean | undefined;
  for_each?: string | boolean | undefined;
  repeat?: Repeat | undefined;
  concurrency?: number | undefined;
  retry?: Retry | undefined;
  timeout?: string | undefined;
  rate?: string | undefined;
  on_error?: "fail" | "continue" | undefined;
  cache?: string | { for: string; despite_effects?: true | undefined } | undefined;
  on_interrupted?: OnInterrupted | undefined;
  lookup?: LookupDefinition | undefined;
  undo?: UndoDefinition | undefined;
  [field: string]: unknown;
}

/** A definition that matches its schema, with defaults filled in. */
export interface Definition {
  inputs?: Record<string, unknown> | undefined;
  steps: StepDefinition[];
  output?: unknown;
  output_schema?: Record<string, unknown> | undefined;
  state?: Record<string, Record<string, unknown>> | undefined;
  commit?: Record<string, unknown> | undefined;
  schedule?: Schedule | undefined;
  triggers?: Trigger[] | undefined;
  examples?:
    | {
        name?: string | undefined;
        inputs: Record<string, unknown>;
        given?: Record<string, unknown> | undefined;
        expect?: unknown;
        assert?: (string | boolean)[] | undefined;
      }[]
    | undefined;
  timeout?: string | undefined;
  concurrency?: number | undefined;
  priority?: number | undefined;
  must_succeed?: MustSucceed | undefined;
  backtest?: BacktestRule | undefined;
  on_failure?: string | undefined;
  expose_as_tool?: boolean | undefined;
  tool_name?: string | undefined;
}
