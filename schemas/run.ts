/** Runs, their steps and attempts and approvals as the API returns them. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { Interruption, LISTED_INTERRUPTIONS } from "./interruption.ts";
import { ProjectField } from "./project.ts";
import { shortSchemas } from "./short-schemas.ts";
import { checkJsonValue, text, timestamp } from "./text.ts";

export const RunStatus = z.enum(["queued", "running", "waiting", "succeeded", "failed", "cancelled"]).meta({
  description: "`waiting`: only waits or approvals are pending. The last three are final.",
  example: "succeeded",
});
export type RunStatus = z.infer<typeof RunStatus>;

/** The statuses of a run that has ended. */
export const FINAL_STATUSES: ReadonlySet<RunStatus> = new Set(["succeeded", "failed", "cancelled"]);

export const StepStatus = z
  .enum(["pending", "running", "waiting", "succeeded", "failed", "skipped", "cancelled"])
  .meta({ description: "The step's status.", example: "succeeded" });
export type StepStatus = z.infer<typeof StepStatus>;

export const AttemptStatus = z.enum(["running", "succeeded", "failed", "cancelled", "interrupted"]).meta({
  description: "`interrupted`: its executor ended during the attempt.",
  example: "succeeded",
});
export type AttemptStatus = z.infer<typeof AttemptStatus>;

export const RunTrigger = z
  .enum([
    "rest",
    "mcp",
    "cli",
    "web",
    "schedule",
    "webhook",
    "backfill",
    "workflow",
    "on_failure",
    "example",
    "backtest",
  ])
  .meta({ description: "What started the run.", example: "schedule" });
export type RunTrigger = z.infer<typeof RunTrigger>;

export const ApprovalStatus = z
  .enum(["pending", "approved", "declined", "expired", "cancelled"])
  .meta({ description: "Whether it is pending, or how it ended.", example: "pending" });
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

export const RunId = text(100, 1).meta({
  description: "The run's id, from run_workflow or list_runs.",
  example: "run_8dkq2m0sfj3a",
});

/** The error of a failed step or run. */
export const RunError = z
  .strictObject({
    code: z.string().meta({ description: "Stable code; `retry.on` names these.", example: "http_status" }),
    message: z.string().meta({ description: "What happened.", example: "POST https://… answered 503." }),
    fix: z.string().optional().meta({ description: "What to do.", example: "Try again later." }),
    step_id: z.string().optional().meta({ description: "The step that failed.", example: "send" }),
    item: z.int().optional().meta({ description: "In a fan-out: which item.", example: 17 }),
    details: z.record(z.string(), z.unknown()).optional().meta({ description: "Facts for diagnosis." }),
  })
  .meta({ id: "RunError", description: "The error of a failed run, step or attempt." });
export type RunError = z.infer<typeof RunError>;

const StartedBy = z
  .strictObject({
    owner: z.string().meta({ description: "The owner of the API key.", example: "operator" }),
    key_name: z.string().meta({ example: "ci" }),
    surface: Surface,
    client: z.string().meta({ example: "curl/8.14.1" }),
  })
  .meta({ id: "StartedBy", description: "Who started the run, and through what." });

const CausedBy = z
  .strictObject({
    kind: z.enum(["started", "redelivered", "patched", "step", "settled", "unsigned"]).meta({
      description:
        "`started`: started a run that it retries. `redelivered`: delivered again what started it. `patched`: changed its definition. " +
        "`step`: wrote its step. `settled`: said what an interrupted step of it returned. `unsigned`: somebody unknown, with the URL of a trigger without a signature.",
      example: "redelivered",
    }),
    owner: z
      .string()
      .optional()
      .meta({ description: "The owner of the API key, or the user.", example: "ada@example.com" }),
    key_name: z.string().optional().meta({ example: "ci" }),
    by: z.string().optional().meta({
      description: "The run, the delivery or the interruption with which they caused it.",
      example: "run_1kq0Zr4mXw_a",
    }),
  })
  .meta({ id: "CausedBy", description: "Somebody who caused the run besides who started it." });

const times = {
  created_at: timestamp.meta({ description: "When it was created." }),
  started_at: timestamp.nullable().meta({ description: "When its first step started." }),
  finished_at: timestamp.nullable().meta({ description: "When it ended." }),
};

const runFields = {
  id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
  kind: z
    .literal("step")
    .optional()
    .meta({ description: "A run of a single step, which belongs to no workflow." }),
  workflow_id: z
    .string()
    .nullable()
    .meta({ description: "Null in a run of a single step.", example: "weekly-revenue" }),
  project: ProjectField,
  version: z.int().nullable().meta({
    description: "The version of the workflow that it runs; null in a run of a single step.",
    example: 3,
  }),
  step: z
    .strictObject({
      id: z.string().meta({ example: "revenue" }),
      type: z.string().meta({ example: "sql" }),
    })
    .optional()
    .meta({ description: "Of a run of a single step: the step." }),
  status: RunStatus,
  trigger: RunTrigger,
  ...times,
  trial: z.literal(true).optional().meta({
    description: "It executes no step with effects, and changes no state.",
    example: true,
  }),
  retry_of: z
    .string()
    .optional()
    .meta({ description: "The run that it retries.", example: "run_1kq0Zr4mXw_a" }),
  parent_run: z
    .string()
    .optional()
    .meta({ description: "The run whose step started it.", example: "run_1kq0Zr4mXw_a" }),
  scheduled_for: timestamp.optional().meta({ description: "The scheduled time that it was started for." }),
  backfill: z.string().optional().meta({
    description: "The backfill that started it for this time.",
    example: "bf_8dkq2m0sfj3a",
  }),
  backtest: z
    .string()
    .optional()
    .meta({ description: "The backtest that it belongs to.", example: "bt_8dkq2m0sfj3a" }),
  replay_of: z
    .string()
    .optional()
    .meta({ description: "The run of the past that it runs again.", example: "run_1kq0Zr4mXw_a" }),
  continued_failures: z.int().optional().meta({
    description: "Number of steps that failed under `on_error: continue`; left out without any.",
    example: 1,
  }),
  open_interruptions: z.int().optional().meta({
    description:
      "Number of its attempts with effects that ended without an answer and are not settled: whether these effects happened is not known. Left out without any.",
    example: 1,
  }),
  on_failure: z
    .strictObject({
      workflow_id: z.string().meta({ example: "tell-the-team" }),
      run_id: z.string().optional().meta({ description: "The run that it started." }),
      error: RunError.optional().meta({ description: "Why it could not start." }),
    })
    .optional()
    .meta({ description: "The workflow that runs because this run failed." }),
};

/** Maximum number of items that are named in what a retry does. */
export const NAMED_ITEMS = 5;

/** What a retry does with the items of a fan-out, or did. */
const RetryItems = z
  .strictObject({
    reused: z.int().meta({ description: "Number of items whose outputs are reused.", example: 17 }),
    run: z.int().meta({ description: "Number of items that run.", example: 23 }),
    first: z.array(z.int()).meta({
      description: `The first ${NAMED_ITEMS} of those that run, counted from 0.`,
      example: [17, 18, 19, 20, 21],
    }),
  })
  .meta({
    id: "RetryItems",
    description: "Of a fan-out that runs in a retry: how many of its items do.",
  });
export type RetryItems = z.infer<typeof RetryItems>;

/** What a retry does with its steps, or did. */
const RetrySteps = z
  .strictObject({
    reused: z.array(z.string()).meta({
      description:
        "Steps whose recorded outputs are reused: they are not executed, so nothing is sent again.",
      example: ["revenue"],
    }),
    run: z.array(z.string()).meta({ description: "Steps that run.", example: ["summary", "send"] }),
    effects: z.array(z.string()).meta({ description: "Those of them that have effects.", example: ["send"] }),
    items: z
      .record(z.string(), RetryItems)
      .optional()
      .meta({
        description:
          "The items of those of them that are fan-outs, by step; before the retry only where the inputs of the items can't have changed.",
        example: { send: { reused: 17, run: 23, first: [17, 18, 19, 20, 21] } },
      }),
  })
  .meta({
    id: "RetrySteps",
    description: "Of a retry: what it does with its steps, by id; once it has ended, what it did.",
  });
export type RetrySteps = z.infer<typeof RetrySteps>;

/** A run as lists show it: without inputs and output. */
export const RunSummary = z
  .strictObject({
    ...runFields,
    error: RunError.nullable().meta({ description: "Why it failed, shortened." }),
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({
        description:
          "The values that `values` names, by their paths, without those that the run doesn't have. A large one is `{truncated: true, chars, preview, ref}`.",
        example: { "output.total": 1204.5 },
      }),
  })
  .meta({ id: "RunSummary", description: "A run in a list." });
export type RunSummary = z.infer<typeof RunSummary>;

/** A workflow's newest run, as the workflow shows it. */
export const LastRun = z
  .strictObject({ id: runFields.id, status: RunStatus, trigger: RunTrigger, ...times })
  .meta({ id: "LastRun", description: "The newest run." });

/** A value that may be large: itself, or the start of its JSON text with a reference to the whole. */
const TruncatedValue = z.unknown().meta({
  description:
    "The value itself when it is small; else `{truncated: true, chars, preview, lists?, ref}`: `preview` is its JSON with the first items of the lists whose full length `lists` names, or the start of its text; `get_run_value` returns the whole for `ref`.",
  example: {
    truncated: true,
    chars: 52_311,
    preview: '{"rows":[{"region":"north"}],"row_count":1000}',
    lists: { rows: 1_000 },
    ref: "steps.revenue.output",
  },
});

const ModelUsage = z
  .strictObject({
    input_tokens: z.int().meta({ example: 812 }),
    output_tokens: z.int().meta({ example: 64 }),
    cost: z.number().nullable().meta({ description: "From the configured prices.", example: 0.0031 }),
  })
  .meta({ id: "Usage", description: "Token usage of a model." });

export const Attempt = z
  .strictObject({
    attempt: z.int().meta({ description: "Counted from 1.", example: 1 }),
    status: AttemptStatus,
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    input: TruncatedValue.optional().meta({
      description: "The step's fields, with expressions evaluated.",
    }),
    usage: ModelUsage.nullable(),
    error: RunError.nullable(),
  })
  .meta({ id: "Attempt", description: "One attempt of a step." });
export type Attempt = z.infer<typeof Attempt>;

const RunItem = z
  .strictObject({
    item: z.int().meta({ description: "Counted from 0.", example: 17 }),
    status: StepStatus,
    attempts: z.int().meta({ example: 1 }),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    error: RunError.nullable(),
  })
  .meta({ id: "RunItem", description: "One item of a fan-out, or iteration of a repeat." });

/** Maximum number of attempts of a step that are listed: the last ones. */
export const LISTED_ATTEMPTS = 20;

export const RunStep = z
  .strictObject({
    id: z.string().meta({ example: "revenue" }),
    type: z.string().meta({ example: "sql" }),
    status: StepStatus,
    attempts: z.int().meta({ description: "Number of attempts.", example: 1 }),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    reused_from: z.string().optional().meta({
      description: "Where its output was reused from instead of running: a run's id, or `cache`.",
      example: "cache",
    }),
    given: z.literal(true).optional().meta({
      description: "In a trial: its output was given, and it did not run.",
      example: true,
    }),
    child_run: z
      .string()
      .optional()
      .meta({ description: "The run that it started.", example: "run_8dkq2m0sfj3a" }),
    waits_until: timestamp.optional().meta({
      description:
        "When its wait ends, its approval expires, its rate lets it start, or its next attempt is due.",
    }),
    event_url: z.string().optional().meta({
      description:
        "The URL to which its event is sent, until it has ended. Anyone who has it may use it, once, so only callers with the scope run see it.",
      example: "https://millrace.example.com/events/run_8dkq2m0sfj3a.callback.…",
    }),
    items: z
      .strictObject({
        total: z.int().meta({ example: 120 }),
        done: z.int().meta({
          description: "Number of those that have ended, failed ones included.",
          example: 118,
        }),
        failed: z.int().meta({ example: 2 }),
        reused: z.int().optional().meta({
          description: "Of a retry: the number of those whose recorded outputs were reused.",
          example: 17,
        }),
        max: z.int().optional().meta({
          description:
            "With repeat: the maximum number of iterations; `total` counts those that have started.",
          example: 50,
        }),
      })
      .optional()
      .meta({
        description: "Progress of the items of a fan-out, or of the iterations of a repeat.",
      }),
    item: z.int().optional().meta({ description: "The item or iteration that was asked for.", example: 17 }),
    error: RunError.nullable(),
    output: TruncatedValue.optional().meta({ description: "Its output." }),
    attempt_list: z
      .array(Attempt)
      .optional()
      .meta({
        description: `Its last ${LISTED_ATTEMPTS} attempts, oldest first; attempts is the number of all.`,
      }),
    item_list: z.array(RunItem).optional().meta({
      description:
        "Up to 20 items or iterations, starting with the one that was asked for; with item_status only those. With detail full: the last iterations.",
    }),
  })
  .meta({ id: "RunStep", description: "A step of a run." });
export type RunStep = z.infer<typeof RunStep>;

export const Run = z
  .strictObject({
    ...runFields,
    started_by: StartedBy,
    caused_by: z.array(CausedBy).optional().meta({
      description: "Who else caused it: like who started it, they don't decide its approvals.",
    }),
    patched: z
      .boolean()
      .optional()
      .meta({ description: "It runs a changed definition of its own.", example: true }),
    progress: z
      .strictObject({
        total: z.int().meta({ example: 5 }),
        done: z.int().meta({ example: 2 }),
        current: z
          .array(z.string())
          .meta({ description: "Steps that are running or waiting.", example: ["summary"] }),
      })
      .optional()
      .meta({ description: "Progress, until the run has ended." }),
    inputs: TruncatedValue.optional().meta({ description: "Its inputs, with defaults filled in." }),
    output: TruncatedValue.optional().meta({ description: "Its output, when it has succeeded." }),
    state: TruncatedValue.optional().meta({
      description: "The state of its workflow that it reads, as it was when the run was admitted.",
      example: { last_id: 1280 },
    }),
    committed: TruncatedValue.optional().meta({
      description: "What it has written to the state, when it has succeeded.",
      example: { last_id: 1284 },
    }),
    usage: ModelUsage.optional().meta({
      description:
        "Token usage so far, over all attempts of all steps and items; left out without any. The cost is null when a model has no price.",
    }),
    error: RunError.nullable(),
    failed_step: z
      .strictObject({
        id: z.string().meta({ example: "send" }),
        item: z.int().optional().meta({ example: 17 }),
        type: z.string().meta({ example: "http" }),
        attempts: z.int().meta({ example: 4 }),
        input: TruncatedValue.optional().meta({
          description: "Its fields, with expressions evaluated.",
        }),
      })
      .optional()
      .meta({ description: "The step that made the run fail." }),
    retried_by: z.string().optional().meta({
      description: "The newest run that retries it, if it failed or was cancelled.",
      example: "run_8dkq2m0sfj3a",
    }),
    approvals: z
      .array(
        z.strictObject({
          id: z.string(),
          step_id: z.string(),
          message: z.string(),
          progress: z
            .string()
            .optional()
            .meta({ description: "Where several must decide.", example: "1 of 2 approved" }),
        }),
      )
      .optional()
      .meta({ description: "Approvals that the run is waiting for." }),
    interruptions: z
      .array(Interruption)
      .optional()
      .meta({ description: `Its open interruptions, at most ${LISTED_INTERRUPTIONS}.` }),
    steps: z.array(RunStep).optional().meta({ description: "With `detail` or `step_id`." }),
    retry: RetrySteps.optional(),
    next: z.string().optional().meta({
      description: "What to do next.",
      example: "It is still running. Ask again with get_run (GET /runs/run_8dkq2m0sfj3a).",
    }),
  })
  .meta({ id: "Run", description: "A run of a workflow, or of a single step." });
export type Run = z.infer<typeof Run>;

/** Maximum time that a caller waits for a run, in seconds: clients give up after a minute. */
export const MAX_WAIT_SECONDS = 50;
/** Maximum time that a caller may ask to wait, in seconds. */
const MAX_ASKED_SECONDS = 3_600;

export const WaitSeconds = z
  .int()
  .min(0)
  .max(MAX_ASKED_SECONDS)
  .meta({
    description: `Seconds to wait for the end of the run; the answer comes after ${MAX_WAIT_SECONDS} at the latest. Default: 20 over MCP, 0 over REST.`,
    example: 20,
  })
  .register(shortSchemas, {
    type: "integer",
    description: `Seconds to wait for its end, at most ${MAX_WAIT_SECONDS}. Default: 20.`,
  });

export const RunInputs = z.record(z.string(), z.unknown()).check(checkJsonValue);

/** A time as a client writes it: a timestamp, or a date for the start of that day in UTC. */
export const TimestampInput = z
  .string()
  .refine(
    (moment) =>
      /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(moment) &&
      !Number.isNaN(Date.parse(moment)),
    {
      message: "must be a time such as 2026-11-21T08:00:00Z, or a date such as 2026-11-21",
      params: { code: "wrong_format" },
    },
  );
