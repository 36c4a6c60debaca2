/** The texts of mails to users, as plain text and HTML. */
import type { LinkKind } from "../../schemas/user.ts";
import type { Notice } from "../core/mail-port.ts";
import type { AccountMail } from "../core/mail-port.ts";
import { DAY, HOUR, MINUTE } from "../core/clock.ts";
import { LINK_LIFETIME_MS } from "./links.ts";

export type MailKind = Exclude<LinkKind, "setup">;

interface Facts {
  /** The link to open. */
  link: string;
  /** The person who caused the mail. */
  by: string;
  /** The name of the instance: its host. */
  instance: string;
}

interface Words {
  subject: string;
  /** Why the recipient gets this mail. */
  why: string;
  button: string;
  notYou: string;
}

const wordsOf: Readonly<Record<MailKind, (facts: Facts) => Words>> = {
  invitation: ({ by, instance }) => ({
    subject: `Your invitation to Millrace on ${instance}`,
    why: `${by} invites you to Millrace on ${instance}. Open the link and choose a password.`,
    button: "Accept the invitation",
    notYou: `If you do not know ${by} or did not expect this, delete this mail. Nothing happens until the link is opened.`,
  }),
  reset: ({ by, instance }) => ({
    subject: `Choose a new password for Millrace on ${instance}`,
    why: `${by} requested a new password for your account in Millrace on ${instance}. Open the link and choose one. You will then be signed out everywhere.`,
    button: "Choose a new password",
    notYou:
      "If you did not request this, delete this mail. Your password stays unchanged. If you get more such mails, tell an admin.",
  }),
  verification: ({ by, instance }) => ({
    subject: `Confirm your address for Millrace on ${instance}`,
    why: `${by} entered this address in Millrace on ${instance}. Open the link to confirm that it is yours.`,
    button: "Confirm the address",
    notYou: "If you did not request this, delete this mail. The address stays unconfirmed.",
  }),
};

/** Creates a mail. All external values are escaped. */
export function accountMail(kind: MailKind, facts: Facts): Omit<AccountMail, "to"> {
  const { subject, why, button, notYou } = wordsOf[kind](facts);
  const life = `The link works once, for ${inWords(LINK_LIFETIME_MS[kind])}.`;
  return {
    subject,
    text: [why, facts.link, life, notYou].join("\n\n") + "\n",
    html: page(subject, [
      paragraph(escape(why)),
      `<p style="margin:28px 0"><a href="${escape(facts.link)}" style="${BUTTON}">${escape(button)}</a></p>`,
      paragraph(`${escape(life)} If the button does not work, copy this address into the browser:`),
      `<p style="margin:0 0 16px;word-break:break-all;color:#555">${escape(facts.link)}</p>`,
      paragraph(escape(notYou)),
    ]),
  };
}

/** Creates a mail that asks to open a page. All external values are escaped. */
export function noticeMail({ subject, text, details, button, url }: Notice): Omit<AccountMail, "to"> {
  return {
    subject,
    text: [...text, url, details].join("\n\n") + "\n",
    html: page(subject, [
      ...text.map((words) => paragraph(escape(words))),
      `<p style="margin:28px 0"><a href="${escape(url)}" style="${BUTTON}">${escape(button)}</a></p>`,
      `<pre style="margin:0 0 16px;white-space:pre-wrap;overflow-wrap:anywhere;font:14px/1.5 ui-monospace,monospace">${escape(details)}</pre>`,
    ]),
  };
}

const BUTTON =
  "display:inline-block;padding:12px 20px;border-radius:6px;background:#1f5fbf;color:#fff;text-decoration:none;font-weight:600";

const paragraph = (inner: string): string => `<p style="margin:0 0 16px">${inner}</p>`;

const page = (title: string, body: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(title)}</title>
</head>
<body style="margin:0;padding:24px;background:#fff;color:#1a1a1a;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:520px;margin:0 auto">
${body.join("\n")}
</div>
</body>
</html>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

function inWords(ms: number): string {
  if (ms > DAY) return `${ms / DAY} days`;
  return ms > HOUR ? `${ms / HOUR} hours` : `${ms / MINUTE} minutes`;
}
