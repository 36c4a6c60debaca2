/** The mails to users about their accounts, and those that ask to open a page. */
import type { LinkKind } from "../../schemas/user.ts";
import type { Notice } from "../core/mail-port.ts";
import type { AccountMail } from "../core/mail-port.ts";
import { DAY, HOUR, MINUTE } from "../core/clock.ts";
import { paragraph, renderMail } from "../core/mail/document.ts";
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

/** Creates a mail about an account. */
export function accountMail(kind: MailKind, facts: Facts): Omit<AccountMail, "to"> {
  const { subject, why, button, notYou } = wordsOf[kind](facts);
  const life = `The link works once, for ${inWords(LINK_LIFETIME_MS[kind])}.`;
  return renderMail({
    subject,
    blocks: [
      paragraph(why),
      { kind: "button", label: button, url: facts.link },
      paragraph(`${life} If the button does not work, copy the address into the browser.`),
      paragraph(notYou),
    ],
  });
}

/** Creates a mail that asks to open a page. */
export const noticeMail = ({ subject, text, details, button, url }: Notice): Omit<AccountMail, "to"> =>
  renderMail({
    subject,
    blocks: [
      ...text.map(paragraph),
      { kind: "button", label: button, url },
      { kind: "lines", text: details },
    ],
  });

function inWords(ms: number): string {
  if (ms > DAY) return `${ms / DAY} days`;
  return ms > HOUR ? `${ms / HOUR} hours` : `${ms / MINUTE} minutes`;
}
