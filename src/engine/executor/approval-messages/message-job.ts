/** What the jobs that send messages about approvals have in common. */
import type { Logger } from "pino";
import type { PeopleReaders } from "../../../core/approval-people.ts";
import { HOUR, iso, SECOND } from "../../../core/clock.ts";
import type { ConnectionViews } from "../../../core/connection-views.ts";
import type { RemainingWork } from "../../../core/engine-port.ts";
import type { Job, RunRecord } from "../../../core/model.ts";
import type { EngineReaders } from "../../../core/run-ports.ts";
import { StepError } from "../../../core/step-errors.ts";
import type { JobResult } from "../../../queue/types.ts";
import type { RunContext } from "../../run-state/run-context.ts";
import { withoutChange } from "../job-results.ts";
import type { UsageLimits } from "../usage-limits.ts";

export interface ApprovalMessageOptions {
  context: RunContext;
  read: Pick<EngineReaders, "runs" | "approvals" | "approvalMessages">;
  /** What can run after a step of a run, such as an approval. */
  remainingAfter(run: RunRecord, stepId: string): Promise<RemainingWork>;
  /** Whether a person started a run, or wrote what it runs, and so may not decide on it. */
  isOwnWork(email: string, run: RunRecord, remaining: RemainingWork): Promise<boolean>;
  /** Left out, only addresses are known. */
  people?: PeopleReaders | undefined;
  views: ConnectionViews;
  /** The limits of those in whose name the mails are sent. */
  usageLimits: Pick<UsageLimits, "countMails">;
  /** The address of a page of the web server. @param path from the root, such as `/ui/approvals` */
  webUrl(path: string): Promise<string>;
  /** Makes the token of a link, of which only the digest is stored. */
  newToken(): { token: string; digest: Buffer };
  log: Logger;
}

/** Pause before the first retry, in milliseconds; each further one is four times as long, up to `MAX_RETRY_MS`. */
const RETRY_MS = 30 * SECOND;
const MAX_RETRY_MS = HOUR;
/** Maximum number of retries: for about five hours, or until the approval has ended. */
const MAX_RETRIES = 8;

export function retryLater({ clock }: RunContext, { attempt, retryCount }: Job): JobResult {
  if (retryCount >= MAX_RETRIES) return withoutChange();
  const pause = Math.min(RETRY_MS * 4 ** retryCount, MAX_RETRY_MS);
  return {
    kind: "retry",
    dueAt: iso(clock.now() + pause),
    attempt: attempt + 1,
    retryCount: retryCount + 1,
    change: () => Promise.resolve(),
  };
}

/** Continues with mails that wait for the limit of their owner, which is no failed attempt. @param until in milliseconds since 1970 */
export const continueAt = (until: number, { attempt, retryCount }: Job): JobResult => ({
  kind: "retry",
  dueAt: iso(until),
  attempt: attempt + 1,
  retryCount,
  change: () => Promise.resolve(),
});

/** Whether another attempt would fail in the same way. */
export const isFinal = (error: unknown): boolean =>
  error instanceof StepError &&
  (error.code === "mail_refused" || error.code === "input_invalid" || error.options.transient === false);
