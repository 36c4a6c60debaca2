/** The mail about an approval to one person. */
import { visibleText } from "../../../../schemas/hidden-characters.ts";
import {
  approvalBlocks,
  approvalTitle,
  type ApprovalView,
  formNote,
} from "../../../core/approval-document.ts";
import { type ApprovalEventRecord, tally } from "../../../core/approval-rules.ts";
import { type MailBlock, paragraph, renderMail } from "../../../core/mail/document.ts";

/** What a mail tells. */
export type Notice = Pick<ApprovalEventRecord, "seq" | "kind" | "to" | "by" | "note">;

interface MailFacts {
  /** The page of the approval in the interface, for those who sign in. */
  page: string;
  /** The link that decides without an account; null where the workflow allows none. */
  decide: string | null;
  /** Whether the workflow allows such links, but not for this person, who has no account. */
  needsAccount: boolean;
  event: Notice;
  /** Who is away, and for whom the person stands in; null for the own place. */
  absent: string | null;
  planDigest: string;
}

const SUBJECTS: Readonly<Record<Notice["kind"], string>> = {
  asked: "Approval needed",
  reminded: "Reminder: approval needed",
  escalated: "Escalated to you: approval needed",
  delegated: "Passed on to you: approval needed",
};

export function approvalMail(
  view: ApprovalView,
  facts: MailFacts,
  mask: (text: string) => string,
): { subject: string; text: string; html: string } {
  const { id } = view.approval;
  return renderMail({
    subject: `${SUBJECTS[facts.event.kind]}: ${approvalTitle(view.approval)}`,
    blocks: [
      ...noteBlocks(view, facts, mask),
      ...approvalBlocks(view, mask),
      ...formNote(view.approval),
      ...linkBlocks(view, facts),
      paragraph(`Approval ${id}. You get this mail because a workflow asks you.`),
    ],
  });
}

/** Why this person gets the mail, and how far the decision is. */
function noteBlocks(
  { approval: { rules, decisions } }: ApprovalView,
  { event, absent, planDigest }: MailFacts,
  mask: (text: string) => string,
): MailBlock[] {
  const { approved } = tally(rules, decisions, planDigest);
  return [
    ...(absent === null ? [] : [`${absent} is away, and you stand in.`]),
    ...(event.kind === "delegated"
      ? [`${event.by} passed it on to you${event.note === null ? "." : `: ${visibleText(mask(event.note))}`}`]
      : []),
    ...(rules.required === 1 ? [] : [`${approved} of ${rules.required} people have approved.`]),
  ].map(paragraph);
}

const linkBlocks = ({ approval }: ApprovalView, { page, decide, needsAccount }: MailFacts): MailBlock[] =>
  decide === null
    ? [
        { kind: "button", label: "Open the approval", url: page },
        ...(needsAccount
          ? [
              paragraph(
                "You can decide once you sign in with an account for this address. Ask an admin of Millrace for an invitation, if you have none.",
              ),
            ]
          : []),
      ]
    : [
        { kind: "button", label: "Look at it and decide", url: decide },
        paragraph(
          `This link is for you. It decides once, without signing in${approval.expiresAt === null ? "" : ", until the approval expires"}. ` +
            "Opening it decides nothing. Do not forward this mail: anyone who has the link can decide with it in your name.",
        ),
        { kind: "paragraph", content: ["Or sign in: ", { kind: "link", label: page, url: page }] },
      ];
