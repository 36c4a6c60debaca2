/** A run, its steps and their attempts, and the approvals that it waits for. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { containsInfinity, exceedsDepth, MAX_JSON_DEPTH, text, timestamp } from "./text.ts";

export const RunStatus = z.enum(["queued", "running", "waiting", "succeeded", "failed", "cancelled"]).meta({
  description: "`waiting` while only waits or approvals are left; the last three are final.",
  example: "succeeded",
});
export type RunStatus = z.infer<typeof RunStatus>;

/** The statuses in which a run stays for good. */
export const FINAL_STATUSES: ReadonlySet<RunStatus> = new Set(["succeeded", "failed", "cancelled"]);

export const StepStatus = z
  .enum(["pending", "running", "waiting", "succeeded", "failed", "skipped", "cancelled"])
  .meta({ description: "Where the step is.", example: "succeeded" });
export type StepStatus = z.infer<typeof StepStatus>;

export const AttemptStatus = z
  .enum(["running", "succeeded", "failed", "cancelled", "interrupted"])
  .meta({ description: "`interrupted`: its executor ended while it ran.", example: "succeeded" });
export type AttemptStatus = z.infer<typeof AttemptStatus>;

export const RunTrigger = z
  .enum(["rest", "mcp", "cli", "web", "schedule", "workflow", "on_failure", "example"])
  .meta({ description: "What started it.", example: "schedule" });
export type RunTrigger = z.infer<typeof RunTrigger>;

export const ApprovalStatus = z
  .enum(["pending", "approved", "declined", "expired", "cancelled"])
  .meta({ description: "Whether it still waits, and how it ended.", example: "pending" });
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

export const RunId = text(100, 1).meta({
  description: "The run's id, as run_workflow and list_runs give it.",
  example: "run_8dkq2m0sfj3a",
});

/** Why a step or a run failed, in words that say what to do. */
export const RunError = z
  .strictObject({
    code: z.string().meta({ description: "Stable; `retry.on` names these.", example: "http_status" }),
    message: z.string().meta({ description: "What happened.", example: "POST https://… answered 503." }),
    fix: z.string().optional().meta({ description: "What to do.", example: "Try again later." }),
    step_id: z.string().optional().meta({ description: "The step that failed.", example: "send" }),
    item: z.int().optional().meta({ description: "In a fan-out: which item.", example: 17 }),
    details: z.record(z.string(), z.unknown()).optional().meta({ description: "Facts to look into it." }),
  })
  .meta({ id: "RunError", description: "Why it failed." });
export type RunError = z.infer<typeof RunError>;

const StartedBy = z
  .strictObject({
    owner: z.string().meta({ description: "The owner of the key.", example: "operator" }),
    key_name: z.string().meta({ example: "ci" }),
    surface: Surface,
    client: z.string().meta({ example: "curl/8.14.1" }),
  })
  .meta({ id: "StartedBy", description: "Who started it, and through what." });

/** When it was asked for, began and ended. */
const times = {
  created_at: timestamp.meta({ description: "When it was accepted." }),
  started_at: timestamp.nullable().meta({ description: "When its first step began." }),
  finished_at: timestamp.nullable().meta({ description: "When it ended." }),
};

const runNoun = {
  id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
  workflow_id: z.string().meta({ example: "weekly-revenue" }),
  version: z.int().meta({ description: "The version of the workflow that it follows.", example: 3 }),
  status: RunStatus,
  trigger: RunTrigger,
  ...times,
  retry_of: z
    .string()
    .optional()
    .meta({ description: "The run that it repeats.", example: "run_1kq0Zr4mXw_a" }),
  parent_run: z
    .string()
    .optional()
    .meta({ description: "The run whose step started it.", example: "run_1kq0Zr4mXw_a" }),
  scheduled_for: timestamp.optional().meta({ description: "The moment of the schedule that it stands for." }),
};

/** A run as lists show it: how it went, without what it took and gave. */
export const RunSummary = z
  .strictObject({ ...runNoun, error: RunError.nullable().meta({ description: "Why it failed, cut short." }) })
  .meta({ id: "RunSummary", description: "A run in a list." });
export type RunSummary = z.infer<typeof RunSummary>;

/** A workflow's newest run, as the workflow shows it. */
export const LastRun = z
  .strictObject({ id: runNoun.id, status: RunStatus, trigger: RunTrigger, ...times })
  .meta({ id: "LastRun", description: "The newest run." });

/** A value that may be large: itself, or the beginning of its JSON text and where the rest is. */
const TruncatedValue = z.unknown().meta({
  description:
    "The value itself where it is small; else `{truncated: true, chars, preview, ref}`: the beginning of its JSON text, and the ref that `get_run_value` gives the whole of.",
  example: { truncated: true, chars: 52_311, preview: '{"rows":[', ref: "steps.revenue.output" },
});

const ModelUsage = z
  .strictObject({
    input_tokens: z.int().meta({ example: 812 }),
    output_tokens: z.int().meta({ example: 64 }),
    cost: z.number().nullable().meta({ description: "By the configured prices.", example: 0.0031 }),
  })
  .meta({ id: "Usage", description: "What a model used." });

export const Attempt = z
  .strictObject({
    attempt: z.int().meta({ description: "Counted from 1.", example: 1 }),
    status: AttemptStatus,
    started_at: timestamp,
    finished_at: timestamp.nullable(),
    input: TruncatedValue.optional().meta({
      description: "The step's fields with their expressions resolved.",
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
    error: RunError.nullable(),
  })
  .meta({ id: "RunItem", description: "One item of a fan-out." });

export const RunStep = z
  .strictObject({
    id: z.string().meta({ example: "revenue" }),
    type: z.string().meta({ example: "sql" }),
    status: StepStatus,
    attempts: z.int().meta({ description: "How often it was tried.", example: 1 }),
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    reused_from: z
      .string()
      .optional()
      .meta({ description: "It did not run: the run whose output it took, or `cache`.", example: "cache" }),
    child_run: z
      .string()
      .optional()
      .meta({ description: "The run that it started.", example: "run_8dkq2m0sfj3a" }),
    waits_until: timestamp.optional().meta({ description: "When its wait, or the time to decide, is over." }),
    items: z
      .strictObject({
        total: z.int().meta({ example: 120 }),
        done: z.int().meta({ example: 118 }),
        failed: z.int().meta({ example: 2 }),
      })
      .optional()
      .meta({ description: "Of a fan-out: how many items it has." }),
    item: z.int().optional().meta({ description: "Where one item was asked for.", example: 17 }),
    error: RunError.nullable(),
    output: TruncatedValue.optional().meta({ description: "What it gave." }),
    attempt_list: z.array(Attempt).optional().meta({ description: "Its attempts, oldest first." }),
    item_list: z
      .array(RunItem)
      .optional()
      .meta({ description: "Of a fan-out: up to 20 items, from the one asked for on." }),
  })
  .meta({ id: "RunStep", description: "A step of a run." });
export type RunStep = z.infer<typeof RunStep>;

export const Run = z
  .strictObject({
    ...runNoun,
    started_by: StartedBy,
    patched: z
      .boolean()
      .optional()
      .meta({ description: "It follows a changed definition of its own.", example: true }),
    progress: z
      .strictObject({
        total: z.int().meta({ example: 5 }),
        done: z.int().meta({ example: 2 }),
        current: z
          .array(z.string())
          .meta({ description: "Steps under way or waiting.", example: ["summary"] }),
      })
      .optional()
      .meta({ description: "How far it is; until it has ended." }),
    inputs: TruncatedValue.optional().meta({ description: "What it was given, defaults filled in." }),
    output: TruncatedValue.optional().meta({ description: "What it gave; once it has succeeded." }),
    usage: ModelUsage.optional().meta({
      description:
        "What its models used until now, over all attempts of all steps and items. Its cost is null where any part has no price. Left out: none was asked.",
    }),
    error: RunError.nullable(),
    failed_step: z
      .strictObject({
        id: z.string().meta({ example: "send" }),
        item: z.int().optional().meta({ example: 17 }),
        type: z.string().meta({ example: "http" }),
        attempts: z.int().meta({ example: 4 }),
        input: TruncatedValue.optional().meta({ description: "Its fields with their expressions resolved." }),
      })
      .optional()
      .meta({ description: "The step that the run failed of." }),
    approvals: z
      .array(z.strictObject({ id: z.string(), step_id: z.string(), message: z.string() }))
      .optional()
      .meta({ description: "What it waits for a person to decide." }),
    steps: z.array(RunStep).optional().meta({ description: "With detail, or step_id." }),
    next: z.string().optional().meta({
      description: "What to do now, in words.",
      example: "It goes on. Ask again with get_run (GET /runs/run_8dkq2m0sfj3a).",
    }),
  })
  .meta({ id: "Run", description: "A run of a workflow." });
export type Run = z.infer<typeof Run>;

/** How long a caller may wait for a run, in seconds. */
export const MAX_WAIT_SECONDS = 50;

export const WaitSeconds = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .meta({
    description: `How many seconds to wait for its end, 0 to ${MAX_WAIT_SECONDS}. Left out: 20 over MCP, 0 over REST.`,
    example: 20,
  });

export const RunInputs = z
  .record(z.string(), z.unknown())
  .refine((value) => !exceedsDepth(value, MAX_JSON_DEPTH), {
    message: `must not be nested deeper than ${MAX_JSON_DEPTH} levels`,
    params: { code: "too_deep" },
  })
  .refine((value) => !containsInfinity(value), {
    message: "must not hold a number too large for JSON's readers (beyond about 1.8e308)",
    params: { code: "not_finite" },
  });

/** A moment, or the beginning of a day in UTC, as a client writes it. */
export const TimestampInput = z
  .string()
  .refine(
    (moment) =>
      /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(moment) &&
      !Number.isNaN(Date.parse(moment)),
    {
      message: "must be a moment such as 2026-11-21T08:00:00Z, or a day such as 2026-11-21",
      params: { code: "wrong_format" },
    },
  );

export const ApprovalId = text(100, 1).meta({
  description: "The approval's id, as list_approvals and get_run give it.",
  example: "apr_5pXq0aZr4mXw1kq0Zr4mXw",
});

export const Approval = z
  .strictObject({
    id: z.string().meta({ example: "apr_5pXq0aZr4mXw1kq0Zr4mXw" }),
    run_id: z.string().meta({ example: "run_8dkq2m0sfj3a" }),
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    step_id: z.string().meta({ example: "approve" }),
    item: z.int().optional().meta({ description: "In a fan-out: which item.", example: 3 }),
    status: ApprovalStatus,
    message: z.string().meta({ description: "What is asked.", example: "Send this to the team?" }),
    form: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "A JSON Schema of what to fill in; null for nothing." }),
    assignees: z.array(z.string()).meta({ example: ["ann@example.com"] }),
    created_at: timestamp,
    expires_at: timestamp.nullable().meta({ description: "Until when it can be decided." }),
    decided_at: timestamp.nullable(),
    decided_by: z.string().nullable().meta({ example: "operator" }),
    comment: z.string().nullable().meta({ example: "Looks right." }),
    answer: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "The form as it was filled in." }),
  })
  .meta({ id: "Approval", description: "What a run waits for a person to decide." });
export type Approval = z.infer<typeof Approval>;

export const ScheduleState = z
  .strictObject({
    workflow_id: z.string().meta({ example: "weekly-revenue" }),
    version: z.int().meta({ description: "The published version that it runs.", example: 3 }),
    cron: z.string().meta({ example: "0 8 * * MON" }),
    timezone: z.string().meta({ example: "Europe/Berlin" }),
    overlap: z.enum(["skip", "queue"]).meta({ example: "skip" }),
    paused: z.boolean().meta({ example: false }),
    next: z
      .array(timestamp)
      .meta({ description: "The next five moments; none while it is paused.", example: [] }),
    last_at: timestamp.nullable().meta({ description: "The moment of the last run that it made." }),
    skipped: z
      .strictObject({
        reason: z.enum(["overlap", "missed", "failed"]).meta({ example: "missed" }),
        count: z.int().meta({ example: 3 }),
        first: timestamp,
        last: timestamp,
        noted_at: timestamp,
        message: z.string().meta({ example: "Nothing was there to run it." }),
      })
      .nullable()
      .meta({ description: "What it last left out, and why." }),
  })
  .meta({ id: "ScheduleState", description: "A published workflow's schedule." });
export type ScheduleState = z.infer<typeof ScheduleState>;
