/** Updates the messages in chats about approvals that have ended, wherever they were decided. */
import { iso } from "../../../core/clock.ts";
import type { ApprovalMessageRecord } from "../../../core/approval-delivery-ports.ts";
import type { ApprovalRecord } from "../../../core/model.ts";
import { usageSubjectOf } from "../../../core/usage-limits.ts";
import type { JobHandler } from "../../../queue/types.ts";
import { withoutChange } from "../job-results.ts";
import { endedMessage } from "./chat-message.ts";
import { type ApprovalMessageOptions, isFinal, retryLater } from "./message-job.ts";

/** Number of approvals that are read at a time. */
const PAGE = 100;

export function announceHandler(options: ApprovalMessageOptions): JobHandler {
  const { context, read, views, webUrl, log } = options;
  return async (job, { signal, record }) => {
    const run = await read.runs.find(job.runId);
    if (run === undefined) return withoutChange();
    const { connections } = await views.of(run.project);
    const call = { owner: usageSubjectOf(run.actor), signal };
    let failed = false;
    const close = async (approval: ApprovalRecord, message: ApprovalMessageRecord): Promise<void> => {
      const { recipient, reference } = message;
      if (message.channel !== "slack" || message.status !== "sent" || reference === null) return;
      const url = await webUrl(`/ui/approvals/${approval.id}`);
      try {
        await connections.chats.update(
          recipient,
          reference,
          endedMessage(approval, url, connections.maskSecrets),
          call,
        );
      } catch (err) {
        if (signal.aborted) throw err;
        log.warn(
          { err, run_id: run.id, approval_id: approval.id, chat: recipient },
          "approval message not updated",
        );
        if (!isFinal(err)) {
          failed = true;
          return;
        }
      }
      await record((tx) =>
        tx.approvalMessages.put({ ...message, at: iso(context.clock.now()), status: "closed" }),
      );
    };
    for (let after: readonly [string, string] | null = null; ;) {
      const page = await read.approvals.page({ filter: { runId: run.id }, after, limit: PAGE });
      for (const approval of page.items) {
        if (approval.status === "pending" || approval.delivery.chat.length === 0) continue;
        for (const message of await read.approvalMessages.of(approval.id)) await close(approval, message);
      }
      if (page.next === null) break;
      after = page.next;
    }
    return failed ? retryLater(context, job) : withoutChange();
  };
}
