/** Handles the jobs of approvals that wait: mail to those whom they concern, reminders and escalations. */
import type { Logger } from "pino";
import { visibleText } from "../../../schemas/hidden-characters.ts";
import { iso, SECOND } from "../../core/clock.ts";
import {
  type ApprovalRecipient,
  approvalRecipients,
  type PeopleReaders,
} from "../../core/approval-people.ts";
import type { ApprovalReader } from "../../core/approval-ports.ts";
import { type ApprovalEventRecord, tally } from "../../core/approval-rules.ts";
import type { ConnectionViews } from "../../core/connection-views.ts";
import type { RemainingWork } from "../../core/engine-port.ts";
import { formatPlan } from "../../core/format-plan.ts";
import type { ApprovalRecord, Job, RunRecord } from "../../core/model.ts";
import type { RunReader } from "../../core/run-ports.ts";
import type { JobHandler } from "../../queue/types.ts";
import type { RunContext } from "../run-state/run-context.ts";
import { endNotifying, escalate, remind } from "../run-state/waits/approval-reminders.ts";
import { withChange, withoutChange } from "./job-results.ts";

/** Maximum number of retries of a mail to assignees that was not sent. */
const MAX_MAIL_RETRIES = 2;
/** Pause before such a retry, in milliseconds. */
const MAIL_RETRY_MS = 30 * SECOND;

interface Options {
  context: RunContext;
  runs: RunReader;
  approvals: ApprovalReader;
  /** Left out, only addresses are known. */
  people?: PeopleReaders | undefined;
  /** What can run after a step of a run, such as an approval. */
  remainingAfter(run: RunRecord, stepId: string): Promise<RemainingWork>;
  views: ConnectionViews;
  log: Logger;
}

export const remindHandler =
  ({ context: { clock } }: Pick<Options, "context">): JobHandler =>
  async (job) =>
    withChange((tx) => remind(tx, job, job.priority, clock.now()));

export const escalateHandler =
  ({ context: { clock } }: Pick<Options, "context">): JobHandler =>
  async (job) =>
    withChange((tx) => escalate(tx, job, job.priority, clock.now()));

/** A question that was asked by an older release, which recorded no event. */
const ASKED = { seq: 0, kind: "asked", by: null, note: null } as const;

type Notice = Pick<ApprovalEventRecord, "seq" | "kind" | "to" | "by" | "note">;

/** Mails those whom the events of an approval concern. Without the mail they still find it in the list of approvals. */
export function notifyHandler(options: Options): JobHandler {
  const { context, runs, approvals, remainingAfter, log } = options;
  return async (job, { signal }) => {
    const [run, approval] = [await runs.find(job.runId), await approvals.findByStep(job)];
    if (run === undefined || approval?.status !== "pending") return withoutChange();
    const { assignees, events } = approval;
    const notices: readonly Notice[] =
      events.length === 0 ? [{ ...ASKED, to: assignees }] : events.filter(({ notified }) => !notified);
    const remaining = await remainingAfter(run, approval.stepId);
    const sent: number[] = [];
    try {
      for (const event of notices) {
        await mail(options, { run, approval, job, event, remaining }, signal);
        sent.push(event.seq);
      }
    } catch (err) {
      log.warn({ err, ...logFields(run, approval), attempt: job.attempt }, "approval mail not sent");
      if (job.retryCount < MAX_MAIL_RETRIES)
        return {
          kind: "retry",
          dueAt: iso(context.clock.now() + MAIL_RETRY_MS),
          attempt: job.attempt + 1,
          retryCount: job.retryCount + 1,
          change: (tx) => tx.approvals.setNotified(approval.id, sent),
        };
    }
    return withChange((tx) =>
      endNotifying(
        tx,
        approval,
        job.priority,
        notices.map(({ seq }) => seq),
      ),
    );
  };
}

interface Message {
  run: RunRecord;
  approval: ApprovalRecord;
  job: Job;
  event: Notice;
  remaining: RemainingWork;
}

/** Sends one mail to the assignees, and one to the substitutes of each of those who are away. */
async function mail(options: Options, message: Message, signal: AbortSignal): Promise<void> {
  const { run, approval, job, event } = message;
  const { mailer } = (await options.views.of(run.project)).connections;
  const allowed = mailer.allowedDomains();
  const recipients = await recipientsOf(options, message);
  // Assignees in a literal list are checked before; one of a role or of an expression must not keep the others from their mail.
  const reachable = recipients.filter(
    ({ email }) =>
      mailer.unavailableReason() !== null ||
      allowed.includes(email.slice(email.lastIndexOf("@") + 1).toLowerCase()),
  );
  if (reachable.length < recipients.length)
    options.log.warn(
      { ...logFields(run, approval), count: recipients.length - reachable.length },
      "approval mail not sent to domains that are not allowed",
    );
  const groups = Map.groupBy(reachable, (recipient) => recipient.for);
  for (const [absent, group] of groups)
    await mailer.send(
      {
        to: group.map(({ email }) => email),
        ...textOf(message, absent),
        idempotencyKey: [
          `${run.id}:${job.stepId}:${job.item ?? "-"}:notify`,
          ...(event.seq <= 1 ? [] : [event.seq]),
          ...(absent === null ? [] : [absent]),
        ].join(":"),
      },
      signal,
    );
}

async function recipientsOf(
  { people, context }: Options,
  { approval, event, remaining }: Message,
): Promise<ApprovalRecipient[]> {
  if (people === undefined)
    return event.to.filter((to) => to.includes("@")).map((email) => ({ email, for: null }));
  const added = event.kind === "escalated" || event.kind === "delegated" ? { to: event.to } : {};
  return approvalRecipients(people, approval, {
    ...added,
    planDigest: remaining.digest,
    now: iso(context.clock.now()),
  });
}

const SUBJECTS: Readonly<Record<Notice["kind"], string>> = {
  asked: "Approval needed",
  reminded: "Reminder: approval needed",
  escalated: "Escalated to you: approval needed",
  delegated: "Passed on to you: approval needed",
};

function textOf({ run, approval, event, remaining }: Message, absent: string | null) {
  const { rules, decisions, expiresAt } = approval;
  const { approved } = tally(rules, decisions, remaining.digest);
  const workflow = run.workflowId ?? "a single step";
  const facts = [
    absent === null ? "" : `${absent} is away, and you stand in.`,
    event.kind === "delegated"
      ? `${event.by} passed it on to you${event.note === null ? "." : `: ${visibleText(event.note)}`}`
      : "",
    rules.required === 1 ? "" : `${approved} of ${rules.required} people have approved.`,
    expiresAt === null ? "" : `It expires at ${expiresAt}.`,
  ].filter((fact) => fact !== "");
  return {
    subject: `${SUBJECTS[event.kind]}: ${workflow}`,
    text:
      `${visibleText(approval.message)}\n\n${facts.map((fact) => `${fact}\n`).join("")}${facts.length > 0 ? "\n" : ""}` +
      `${formatPlan(approval.id, remaining.workflows)}\n\n` +
      `Approval ${approval.id}, run ${run.id} of ${workflow}.\n` +
      `Decide it with decide_approval or POST /approvals/${approval.id}.\n`,
  };
}

const logFields = ({ id, workflowId }: RunRecord, approval: ApprovalRecord) => ({
  workflow_id: workflowId,
  run_id: id,
  step_id: approval.stepId,
  approval_id: approval.id,
});
