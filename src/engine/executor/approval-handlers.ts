/** Handles the jobs of approvals that wait: reminders and escalations. */
import type { JobHandler } from "../../queue/types.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { escalate, remind } from "../run-state/waits/approval-reminders.ts";
import { withChange } from "./job-results.ts";

interface Options {
  context: Pick<RunContext, "clock">;
}

export const remindHandler =
  ({ context: { clock } }: Options): JobHandler =>
  async (job) =>
    withChange((tx) => remind(tx, job, job.priority, clock.now()));

export const escalateHandler =
  ({ context: { clock } }: Options): JobHandler =>
  async (job) =>
    withChange((tx) => escalate(tx, job, job.priority, clock.now()));
