/** An approval as a message in Slack: https://docs.slack.dev/reference/block-kit */
import { APPROVE, type ChatMessage, DECLINE } from "../../core/chat-port.ts";

/** Maximum length of a section, and of a header, in characters (Slack). */
const MAX_SECTION = 2_800;
const MAX_HEADER = 150;
/** Maximum number of sections with the text. */
const MAX_SECTIONS = 4;

type Block = Record<string, unknown>;

const plain = (text: string) => ({ type: "plain_text", text });

export function slackBlocks({ title, text, url, decision }: ChatMessage): Block[] {
  const parts = partsOf(escapeText(text));
  const shown = parts.slice(0, MAX_SECTIONS);
  return [
    { type: "header", text: plain(title.slice(0, MAX_HEADER)) },
    ...shown.map((part) => ({ type: "section", text: { type: "mrkdwn", text: `\`\`\`${part}\`\`\`` } })),
    ...(parts.length > shown.length
      ? [{ type: "context", elements: [plain("The rest is on the page of the approval.")] }]
      : []),
    {
      type: "actions",
      elements: [
        ...(decision === null ? [] : buttons(decision)),
        { type: "button", action_id: "millrace_open", text: plain("Open in Millrace"), url },
      ],
    },
  ];
}

function buttons({ approvalId, planDigest, canApprove }: NonNullable<ChatMessage["decision"]>): Block[] {
  const value = `${approvalId} ${planDigest}`;
  const button = (id: string, label: string, style: string): Block => ({
    type: "button",
    action_id: id,
    text: plain(label),
    style,
    value,
    confirm: {
      title: plain(`${label}?`),
      text: plain("The decision is final."),
      confirm: plain(label),
      deny: plain("Cancel"),
    },
  });
  return [
    ...(canApprove ? [button(APPROVE, "Approve", "primary")] : []),
    button(DECLINE, "Decline", "danger"),
  ];
}

/** Slack gives `&`, `<` and `>` a meaning, such as a mention of everybody; and three backticks would end the block. */
const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("```", "'''");

/** Cuts a text at ends of lines. */
function partsOf(text: string): string[] {
  const parts: string[] = [""];
  for (const line of text.split("\n").flatMap((whole) => whole.match(/.{1,1000}/gsu) ?? [""])) {
    const last = parts.length - 1;
    if (parts[last]!.length + line.length + 1 > MAX_SECTION) parts.push(line);
    else parts[last] = parts[last] === "" ? line : `${parts[last]}\n${line}`;
  }
  return parts.filter((part) => part !== "");
}
