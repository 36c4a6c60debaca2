/** The mails that tell people about changes of their second factors, which somebody else may have made. */
import type { AccountsApi } from "./account-ports.ts";
import type { Notice } from "./mail-port.ts";

type FactorEvent =
  | { kind: "added" | "removed"; name: string }
  | { kind: "recovery_code_used"; left: number }
  | { kind: "recovery_codes_renewed" }
  | { kind: "reset"; by: string };

/** @param details when, and with which browser, from which address */
function factorNotice(event: FactorEvent, instance: string, url: string, details: string): Notice {
  const { subject, text } = wordsOf(event, instance);
  return {
    subject: `${subject} for Millrace on ${instance}`,
    text: [
      text,
      "If it was not you, somebody knows your password: change it, look at your second factors and sessions, and tell an admin.",
    ],
    details,
    button: "Open your account",
    url,
  };
}

function wordsOf(event: FactorEvent, instance: string): { subject: string; text: string } {
  const account = `your account in Millrace on ${instance}`;
  switch (event.kind) {
    case "added":
      return {
        subject: "New second factor",
        text: `The second factor "${event.name}" was added to ${account}.`,
      };
    case "removed":
      return {
        subject: "Second factor removed",
        text: `The second factor "${event.name}" was removed from ${account}.`,
      };
    case "recovery_code_used":
      return {
        subject: "Recovery code used",
        text: `Somebody used a recovery code of ${account}, to sign in or to confirm who they are. ${event.left} unused codes are left.`,
      };
    case "recovery_codes_renewed":
      return {
        subject: "New recovery codes",
        text: `New recovery codes were made for ${account}. The earlier ones no longer work.`,
      };
    case "reset":
      return {
        subject: "Second factors removed",
        text: `${event.by} removed all second factors and recovery codes of ${account}, and signed you out everywhere.`,
      };
  }
}

/** Sends the mail, if mail is configured. Requests do not wait for it; what fails is logged. */
export async function notifyOfFactor(
  accounts: AccountsApi,
  to: string,
  event: FactorEvent,
  details: string,
): Promise<void> {
  if (!accounts.mailEnabled) return;
  const url = await accounts.pageUrl("/account");
  await accounts.notify([to], factorNotice(event, new URL(url).host, url, details));
}
