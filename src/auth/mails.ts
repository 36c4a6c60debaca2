/** What mails about accounts say, as plain text and as HTML. */
import type { LinkKind } from "../../schemas/user.ts";
import type { AccountMail } from "../core/mail-port.ts";
import { DAY, HOUR, MINUTE } from "../core/clock.ts";
import { LINK_LIFETIME_MS } from "./links.ts";

export type MailKind = Exclude<LinkKind, "setup">;

interface Facts {
  /** What is to be opened. */
  link: string;
  /** Who asked for it. */
  by: string;
  /** What the instance is called: its host. */
  instance: string;
}

interface Words {
  subject: string;
  /** Who asked for what. */
  why: string;
  button: string;
  notYou: string;
}

const wordsOf: Readonly<Record<MailKind, (facts: Facts) => Words>> = {
  invitation: ({ by, instance }) => ({
    subject: `Your invitation to Millrace on ${instance}`,
    why: `${by} invites you to Millrace on ${instance}. Open the link and choose a password.`,
    button: "Take the invitation up",
    notYou: `If you don't know ${by} or did not expect this, delete this mail: nothing happens until the link is opened.`,
  }),
  reset: ({ by, instance }) => ({
    subject: `Choose a new password for Millrace on ${instance}`,
    why: `A new password for your account in Millrace on ${instance} was asked for by ${by}. Open the link and choose one; you are signed out everywhere then.`,
    button: "Choose a new password",
    notYou:
      "If that was not you, delete this mail: your password stays as it is. If such mails keep coming, tell an admin.",
  }),
  verification: ({ by, instance }) => ({
    subject: `Confirm your address for Millrace on ${instance}`,
    why: `This address was given to Millrace on ${instance} by ${by}. Open the link to confirm that it is yours.`,
    button: "Confirm the address",
    notYou: "If that was not you, delete this mail: the address stays unconfirmed.",
  }),
};

/** Writes one. All that comes from outside is escaped. */
export function accountMail(kind: MailKind, facts: Facts): Omit<AccountMail, "to"> {
  const { subject, why, button, notYou } = wordsOf[kind](facts);
  const life = `The link works once, for ${inWords(LINK_LIFETIME_MS[kind])}.`;
  return {
    subject,
    text: [why, facts.link, life, notYou].join("\n\n") + "\n",
    html: page(subject, [
      paragraph(escape(why)),
      `<p style="margin:28px 0"><a href="${escape(facts.link)}" style="${BUTTON}">${escape(button)}</a></p>`,
      paragraph(`${escape(life)} If the button does nothing, copy this into the browser:`),
      `<p style="margin:0 0 16px;word-break:break-all;color:#555">${escape(facts.link)}</p>`,
      paragraph(escape(notYou)),
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
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (it) => ENTITIES[it]!);

function inWords(ms: number): string {
  if (ms > DAY) return `${ms / DAY} days`;
  return ms > HOUR ? `${ms / HOUR} hours` : `${ms / MINUTE} minutes`;
}
