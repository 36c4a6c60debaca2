/**
 * An approval as a card in Teams. An incoming webhook can't receive what somebody presses (`Action.Submit` needs a bot), so the
 * card has one button, which opens the page of the approval: there people sign in. It never has a link that decides, because
 * everybody in the channel could use it.
 */
import type { ChatMessage } from "../../core/chat-port.ts";

/** Maximum length of the text, in characters: a message may have 28 KB. */
const MAX_TEXT = 12_000;

export const teamsCard = ({ title, text, url }: ChatMessage): Record<string, unknown> => ({
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
          { type: "TextBlock", size: "Medium", weight: "Bolder", text: escapeMarkdown(title), wrap: true },
          {
            type: "TextBlock",
            fontType: "Monospace",
            text: escapeMarkdown(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text),
            wrap: true,
          },
        ],
        actions: [{ type: "Action.OpenUrl", title: "Open the approval", url }],
      },
    },
  ],
});

/** A TextBlock shows Markdown: nothing in a text becomes a link or a picture. */
const escapeMarkdown = (text: string): string =>
  text.replaceAll(/[\\`*_[\]()<>#!|~]/g, "\\$&").replaceAll("\n", "\n\n");
