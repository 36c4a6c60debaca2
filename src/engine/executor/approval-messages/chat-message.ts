/** What a chat shows of an approval: while it is pending, and once it has ended. */
import {
  approvalBlocks,
  approvalTitle,
  type ApprovalView,
  formNote,
} from "../../../core/approval-document.ts";
import type { ChatMessage } from "../../../core/chat-port.ts";
import type { RemainingWork } from "../../../core/engine-port.ts";
import { mailText } from "../../../core/mail/text.ts";
import type { ApprovalRecord } from "../../../core/model.ts";

export function pendingMessage(
  view: ApprovalView,
  remaining: Pick<RemainingWork, "digest">,
  url: string,
  mask: (text: string) => string,
): ChatMessage {
  const { approval } = view;
  return {
    title: `Approval needed: ${approvalTitle(approval)}`,
    text: mailText([...approvalBlocks(view, mask), ...formNote(approval)]),
    url,
    decision: { approvalId: approval.id, planDigest: remaining.digest, canApprove: !needsForm(approval) },
  };
}

export function endedMessage(
  approval: ApprovalRecord,
  url: string,
  mask: (text: string) => string,
): ChatMessage {
  const { status, decidedBy, decidedAt, comment, message } = approval;
  const by = decidedBy === null ? "" : ` by ${decidedBy}`;
  const outcome = `${status[0]!.toUpperCase()}${status.slice(1)}${by}`;
  return {
    title: `${outcome}: ${approvalTitle(approval)}`,
    text: mask(
      [
        message,
        `${outcome}${decidedAt === null ? "" : `, ${decidedAt}`}`,
        ...(comment === null ? [] : [`Comment: ${comment}`]),
      ].join("\n\n"),
    ),
    url,
    decision: null,
  };
}

/** A button asks for nothing else, so a form with required fields is filled in on the page. */
const needsForm = ({ form }: ApprovalRecord): boolean =>
  Array.isArray(form?.["required"]) && form["required"].length > 0;
