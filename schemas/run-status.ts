/** The states of runs, steps, attempts and approvals, and what starts runs. */
import { z } from "zod";

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

export const AttemptStatus = z
  .enum(["running", "succeeded", "failed", "cancelled", "interrupted"])
  .meta({ description: "`interrupted`: its executor ended during the attempt.", example: "succeeded" });
export type AttemptStatus = z.infer<typeof AttemptStatus>;

export const RunTrigger = z
  .enum(["rest", "mcp", "cli", "web", "schedule", "webhook", "backfill", "workflow", "on_failure", "example"])
  .meta({ description: "What started the run.", example: "schedule" });
export type RunTrigger = z.infer<typeof RunTrigger>;

export const ApprovalStatus = z
  .enum(["pending", "approved", "declined", "expired", "cancelled"])
  .meta({ description: "Whether it is pending, or how it ended.", example: "pending" });
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;
