/** Messages for the incoming webhooks of chats. Names come from people, so none of them becomes markup or mentions anybody. */
import type { SubscriptionFormat } from "../../../../schemas/subscription.ts";
import type { EventSummary } from "./summary.ts";

type ChatFormat = Exclude<SubscriptionFormat, "standard_webhooks">;
type Message = Readonly<Record<string, unknown>>;

const DISCORD_COLORS = { good: 0x2e_7d_32, bad: 0xc6_28_28, neutral: 0x1f_5f_bf } as const;
const CARD_COLORS = { good: "Good", bad: "Attention", neutral: "Default" } as const;
/** Maximum length of a text in a message, in characters; the shortest limit of the three chats for a field is larger. */
const MAX_TEXT = 200;

/** @see https://docs.slack.dev/messaging/formatting-message-text/#escaping */
const escapeSlack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Markdown of Discord and of adaptive cards. */
const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]()#+\-.!|~<>@:]/g, "\\$&");

const cut = (text: string): string => {
  const characters = Array.from(text);
  return characters.length > MAX_TEXT ? `${characters.slice(0, MAX_TEXT - 1).join("")}…` : text;
};

/** @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/ */
const slack = ({ title, facts, link }: EventSummary): Message => ({
  // Shown by notifications, and where blocks can't be.
  text: escapeSlack(cut(title)),
  blocks: [
    {
      type: "section",
      text: {
        type: "mrkdwn",
        text: `*<${escapeSlack(link.url)}|${escapeSlack(cut(title)).replaceAll("|", "¦")}>*`,
      },
    },
    ...(facts.length === 0
      ? []
      : [
          {
            type: "section",
            fields: facts.map(([label, text]) => ({
              type: "mrkdwn",
              text: `*${label}*\n${escapeSlack(cut(text))}`,
            })),
          },
        ]),
  ],
});

/** @see https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const teams = ({ title, tone, facts, link }: EventSummary): Message => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      contentUrl: null,
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          {
            type: "TextBlock",
            text: escapeMarkdown(cut(title)),
            weight: "Bolder",
            size: "Medium",
            color: CARD_COLORS[tone],
            wrap: true,
          },
          ...(facts.length === 0
            ? []
            : [
                {
                  type: "FactSet",
                  facts: facts.map(([label, text]) => ({ title: label, value: escapeMarkdown(cut(text)) })),
                },
              ]),
        ],
        actions: [{ type: "Action.OpenUrl", title: link.label, url: link.url }],
      },
    },
  ],
});

/** @see https://discord.com/developers/docs/resources/webhook#execute-webhook */
const discord = ({ title, tone, facts, link }: EventSummary): Message => ({
  embeds: [
    {
      title: escapeMarkdown(cut(title)).slice(0, 256),
      url: link.url,
      color: DISCORD_COLORS[tone],
      fields: facts.map(([name, text]) => ({ name, value: escapeMarkdown(cut(text)), inline: true })),
    },
  ],
  allowed_mentions: { parse: [] },
});

const MESSAGES = { slack, teams, discord } as const satisfies Record<
  ChatFormat,
  (summary: EventSummary) => Message
>;

/** The JSON that a chat gets. */
export const chatMessage = (format: ChatFormat, summary: EventSummary): string =>
  JSON.stringify(MESSAGES[format](summary));
