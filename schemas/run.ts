/** A run, its steps and their attempts, and the approvals that it waits for. */
import { z } from "zod";
import { Surface } from "./actor.ts";
import { text } from "./text.ts";

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
  .enum(["rest", "mcp", "cli", "schedule", "workflow", "on_failure", "example"])
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

export const StartedBy = z
  .strictObject({
    owner: z.string().meta({ description: "The owner of the key.", example: "operator" }),
    key_name: z.string().meta({ example: "ci" }),
    surface: Surface,
    client: z.string().meta({ example: "curl/8.14.1" }),
  })
  .meta({ id: "StartedBy", description: "Who started it, and through what." });

