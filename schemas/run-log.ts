/** The log of a run: what happened in it, in the order of time. */
import { z } from "zod";
import { ApprovalEventKind } from "./approval-rules.ts";
import { RunError } from "./run.ts";
import { ApprovalStatus } from "./run-status.ts";
import { timestamp } from "./text.ts";

const RunLogKind = z
  .enum([
    "run_created",
    "run_started",
    "run_succeeded",
    "run_failed",
    "run_cancelled",
    "on_failure_started",
    "step_started",
    "step_waiting",
    "child_started",
    "attempt_started",
    "attempt_failed",
    "attempt_interrupted",
    "step_succeeded",
    "step_failed",
    "step_skipped",
    "step_cancelled",
    "step_reused",
    "approval_requested",
    ...ApprovalEventKind.options.map((kind) => `approval_${kind}` as const),
    ...ApprovalStatus.options.map((status) => `approval_${status}` as const),
  ])
  .meta({
    description: "What happened. `attempt_started` is a retry: the first attempt is `step_started`.",
    example: "attempt_failed",
  });
export type RunLogKind = z.infer<typeof RunLogKind>;

export const RunLogEntry = z
  .strictObject({
    at: timestamp.meta({ description: "When it happened." }),
    kind: RunLogKind,
    step_id: z.string().optional().meta({ description: "The step that it concerns.", example: "send" }),
    attempt: z.int().optional().meta({ description: "Which attempt, from 1.", example: 2 }),
    by: z.string().optional().meta({ description: "Who did it.", example: "ann@example.com" }),
    note: z
      .string()
      .optional()
      .meta({ description: "The message of an approval, or what a person wrote.", example: "Send it?" }),
    until: timestamp.optional().meta({ description: "Until when a step waits." }),
    run_id: z.string().optional().meta({
      description:
        "Another run: the one that it retries or belongs to, whose output it reuses, or that it started.",
      example: "run_1kq0Zr4mXw_a",
    }),
    approval_id: z.string().optional().meta({ example: "apr_5pXq0aZr4mXw1kq0Zr4mXw" }),
    items: z
      .strictObject({ total: z.int().meta({ example: 120 }), failed: z.int().meta({ example: 2 }) })
      .optional()
      .meta({ description: "Of a step with items or iterations: how many. They are not logged one by one." }),
    error: RunError.optional().meta({ description: "Why it failed, shortened." }),
  })
  .meta({ id: "RunLogEntry", description: "Something that happened in a run." });
export type RunLogEntry = z.infer<typeof RunLogEntry>;
