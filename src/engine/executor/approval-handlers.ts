/** Handles the jobs of approvals that wait: reminders and escalations. */
import type { ConnectionViews } from "../../core/connection-views.ts";
import type { RemainingWork } from "../../core/engine-port.ts";
import type { RunRecord } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { JobHandler } from "../../queue/types.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { escalate, remind } from "../run-state/waits/approval-reminders.ts";
import { withChange, withoutChange } from "./job-results.ts";

interface Options {
  context: Pick<RunContext, "clock">;
  runs: Pick<RunReader, "find">;
  views: ConnectionViews;
  /** What can run after a step of a run, such as an approval. */
  remainingAfter(run: RunRecord, stepId: string): Promise<RemainingWork>;
}

async function hasMailServer({ views }: Options, { project }: RunRecord): Promise<boolean> {
  const { connections } = await views.of(project);
  return connections.mailer.unavailableReason() === null;
}

export const remindHandler =
  (options: Options): JobHandler =>
  async (job) => {
    const run = await options.runs.find(job.runId);
    if (run === undefined) return withoutChange();
    const { digest: planDigest } = await options.remainingAfter(run, job.stepId);
    const mail = await hasMailServer(options, run);
    return withChange((tx) =>
      remind(tx, job, job.priority, {
        now: options.context.clock.now(),
        planDigest,
        hasMailServer: mail,
      }),
    );
  };

export const escalateHandler =
  (options: Options): JobHandler =>
  async (job) => {
    const run = await options.runs.find(job.runId);
    if (run === undefined) return withoutChange();
    const mail = await hasMailServer(options, run);
    return withChange((tx) =>
      escalate(tx, job, job.priority, { now: options.context.clock.now(), hasMailServer: mail }),
    );
  };
