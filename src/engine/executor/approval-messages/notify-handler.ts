/**
 * Sends the messages about an approval that waits: a mail of their own to those whom its events concern, and the question to each
 * chat. What was sent is recorded one by one, so a job that runs again repeats only what may not have arrived. Without a message
 * people still find the approval in the list.
 */
import { canonicalAddress, mailDomain } from "../../../../schemas/mail-address.ts";
import type { ApprovalMessageRecord } from "../../../core/approval-delivery-ports.ts";
import type { ApprovalView } from "../../../core/approval-document.ts";
import { type ApprovalRecipient, approvalRecipients } from "../../../core/approval-people.ts";
import { iso } from "../../../core/clock.ts";
import type { Connections } from "../../../core/connections.ts";
import { AppError } from "../../../core/errors.ts";
import type { RemainingWork } from "../../../core/engine-port.ts";
import { type HeldMail, heldFields } from "../../../core/mail-limits.ts";
import type { ApprovalRecord, Job, RunRecord } from "../../../core/model.ts";
import { StepError } from "../../../core/step-errors.ts";
import { usageSubjectOf } from "../../../core/usage-limits.ts";
import { isNamedStranger } from "../../../core/written-assignees.ts";
import type { JobContext, JobHandler } from "../../../queue/types.ts";
import { definedStep } from "../../definition/compiled-definition.ts";
import { announceEnds } from "../../run-state/announce-ends.ts";
import { endNotifying } from "../../run-state/waits/approval-reminders.ts";
import { withChange, withoutChange } from "../job-results.ts";
import { approvalMail, type Notice } from "./approval-mail.ts";
import { pendingMessage } from "./chat-message.ts";
import { type ApprovalMessageOptions, continueAt, isFinal, retryLater } from "./message-job.ts";

/** One run of the job. */
interface Sending {
  run: RunRecord;
  approval: ApprovalRecord;
  view: ApprovalView;
  remaining: RemainingWork;
  connections: Pick<Connections, "mailer" | "chats" | "maskSecrets">;
  job: Job;
  jobContext: JobContext;
}

/** A message to send. */
interface Target {
  channel: ApprovalMessageRecord["channel"];
  /** The key of the record: the address, or the name of a chat. */
  recipient: string;
  /** @returns what identifies the message, null for none; or why it must wait */
  send(): Promise<string | null | HeldMail>;
}

/** A question that was asked by an older release, which recorded no event. */
const ASKED = { seq: 0, kind: "asked", by: null, note: null } as const;

export function notifyHandler(options: ApprovalMessageOptions): JobHandler {
  const { context, read, remainingAfter, views } = options;
  return async (job, jobContext) => {
    const [run, approval] = [await read.runs.find(job.runId), await read.approvals.findByStep(job)];
    if (run === undefined || approval?.status !== "pending") return withoutChange();
    const remaining = await remainingAfter(run, approval.stepId);
    const { connections } = await views.of(run.project);
    const view = { approval, run, remaining };
    const sending: Sending = { run, approval, view, remaining, connections, job, jobContext };
    const { assignees, events } = approval;
    const notices: readonly Notice[] =
      events.length === 0 ? [{ ...ASKED, to: assignees }] : events.filter(({ notified }) => !notified);
    const done = new Set((await read.approvalMessages.of(approval.id)).map(keyOf));
    const targets = [...chatTargets(options, sending)];
    for (const event of notices) targets.push(...(await mailTargets(options, sending, event)));
    const open = targets.filter((target) => !done.has(keyOf(target)));
    const ends: SendEnd[] = [];
    for (const target of open) ends.push(await sendOne(options, sending, target));
    const retry = ends.includes("failed") ? retryLater(context, job) : undefined;
    if (retry?.kind === "retry") return retry;
    const held = ends.filter((end) => typeof end === "number");
    if (held.length > 0) return continueAt(Math.min(...held), job);
    // It may have ended while the messages were sent, when there was none to update yet.
    const hasEnded =
      approval.delivery.chat.length > 0 && (await read.approvals.find(approval.id))?.status !== "pending";
    return withChange(async (tx) => {
      const seqs = notices.map(({ seq }) => seq);
      await endNotifying(tx, approval, job.priority, seqs);
      if (hasEnded) await announceEnds(tx, run);
    });
  };
}

const keyOf = ({ channel, recipient }: Pick<Target, "channel" | "recipient">): string =>
  `${channel} ${recipient}`;

/** `failed`: must be sent again; a number: must be sent then, in milliseconds since 1970. */
type SendEnd = "done" | "failed" | number;

async function sendOne(
  { context, log }: ApprovalMessageOptions,
  { run, approval, job, jobContext }: Sending,
  { channel, recipient, send }: Target,
): Promise<SendEnd> {
  const fields = {
    workflow_id: run.workflowId,
    run_id: run.id,
    step_id: job.stepId,
    approval_id: approval.id,
  };
  const record = async (status: "sent" | "refused", reference: string | null): Promise<void> => {
    const at = iso(context.clock.now());
    const message = { approvalId: approval.id, channel, recipient, at, status, reference };
    await jobContext.record((tx) => tx.approvalMessages.put(message));
  };
  try {
    const sent = await send();
    if (sent !== null && typeof sent === "object") {
      log.warn({ ...fields, ...heldFields(sent) }, "approval mail waits for a limit");
      return sent.until!;
    }
    await record("sent", sent);
    return "done";
  } catch (err) {
    if (jobContext.signal.aborted || err instanceof AppError) throw err;
    log.warn(
      { err, ...fields, channel, attempt: job.attempt },
      `approval ${channel === "mail" ? "mail" : "message"} not sent`,
    );
    if (!isFinal(err)) return "failed";
    await record("refused", null);
    return "done";
  }
}

function chatTargets(options: ApprovalMessageOptions, sending: Sending): Target[] {
  const { run, approval, view, remaining, connections, jobContext } = sending;
  const types = new Map(connections.chats.list().map(({ name, type }) => [name, type]));
  return approval.delivery.chat.map((name) => ({
    channel: types.get(name) === "teams" ? "teams" : "slack",
    recipient: name,
    send: async () => {
      const url = await options.webUrl(`/ui/approvals/${approval.id}`);
      const call = { owner: usageSubjectOf(run.actor), signal: jobContext.signal };
      return connections.chats.post(
        name,
        pendingMessage(view, remaining, url, connections.maskSecrets),
        call,
      );
    },
  }));
}

/** A mail to each of those whom an event concerns, the substitutes of those who are away among them. */
async function mailTargets(
  options: ApprovalMessageOptions,
  sending: Sending,
  event: Notice,
): Promise<Target[]> {
  const { run, approval, connections, job } = sending;
  const { mailer } = connections;
  const recipients = await recipientsOf(options, sending, event);
  const allowed = mailer.allowedDomains();
  // Assignees in a literal list are checked before; one of a role or of an expression must not keep the others from their mail.
  const reachable = recipients.filter(
    ({ email }) => mailer.unavailableReason() !== null || allowed.includes(mailDomain(email)),
  );
  if (reachable.length < recipients.length)
    options.log.warn(
      {
        run_id: run.id,
        step_id: job.stepId,
        approval_id: approval.id,
        count: recipients.length - reachable.length,
      },
      "approval mail not sent to domains that are not allowed",
    );
  return reachable.map((recipient) => {
    const email = canonicalAddress(recipient.email);
    return {
      channel: "mail",
      recipient: event.seq <= 1 ? email : `${email} ${event.seq}`,
      send: () => sendMail(options, sending, event, { ...recipient, email }),
    };
  });
}

async function recipientsOf(
  { people, context, isOwnWork }: ApprovalMessageOptions,
  { run, approval, remaining }: Sending,
  event: Notice,
): Promise<ApprovalRecipient[]> {
  if (people === undefined)
    return event.to.filter((to) => to.includes("@")).map((email) => ({ email, for: null }));
  const added = event.kind === "escalated" || event.kind === "delegated" ? { to: event.to } : {};
  return approvalRecipients(people, approval, {
    ...added,
    planDigest: remaining.digest,
    isOwnWork: (email) => isOwnWork(email, run, remaining),
    now: iso(context.clock.now()),
  });
}

async function sendMail(
  options: ApprovalMessageOptions,
  { run, approval, view, remaining, connections, job, jobContext }: Sending,
  event: Notice,
  { email, for: absent }: ApprovalRecipient,
): Promise<null | HeldMail> {
  let held: HeldMail | undefined;
  const isClaimed = await jobContext.record(async (tx) => {
    held = await options.usageLimits.countMails(tx, run, [email]);
  });
  if (!isClaimed) throw new StepError("interrupted", "Another executor has claimed the job.");
  if (held !== undefined) return held;
  const page = await options.webUrl(`/ui/approvals/${approval.id}`);
  const link = { approvalId: approval.id, recipient: email, planDigest: remaining.digest };
  const mayUseLink = approval.delivery.byLink && (await mayDecideByLink(options, run, approval, email));
  const decide = mayUseLink ? await createLink(options, jobContext, link) : null;
  const needsAccount = approval.delivery.byLink && !mayUseLink;
  const mail = approvalMail(
    view,
    { page, decide, needsAccount, event, absent, planDigest: remaining.digest },
    connections.maskSecrets,
  );
  const key = [
    `${run.id}:${job.stepId}:${job.item ?? "-"}:notify`,
    ...(event.seq <= 1 ? [] : [event.seq]),
    email,
  ];
  const call = { owner: usageSubjectOf(run.actor), signal: jobContext.signal };
  await connections.mailer.send({ to: [email], ...mail, idempotencyKey: key.join(":") }, call);
  return null;
}

/** Whether the link of somebody decides: of a person with an account, or of an address that the definition names. */
async function mayDecideByLink(
  { context, people, read }: ApprovalMessageOptions,
  run: RunRecord,
  { stepId }: ApprovalRecord,
  email: string,
): Promise<boolean> {
  if ((await people?.users.findByEmail(email)) !== undefined) return true;
  return isNamedStranger(run, definedStep(await context.definitionCache.get(run, read.runs), stepId), email);
}

/** Creates a link before it is sent: one that is not stored would not work. A retry sends another one, and both work. */
async function createLink(
  { context, newToken, webUrl }: ApprovalMessageOptions,
  jobContext: JobContext,
  link: { approvalId: string; recipient: string; planDigest: string },
): Promise<string> {
  const { token, digest } = newToken();
  const createdAt = iso(context.clock.now());
  await jobContext.record((tx) => tx.approvalLinks.insert({ ...link, digest, createdAt }));
  return webUrl(`/decide/${token}`);
}
