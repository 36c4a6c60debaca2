/** Mails about accounts that nobody waits for. */
import type { SessionContext } from "./endpoint.ts";

/** Who asked, as far as the mail can know: who typed the address. */
export const ANONYMOUS_REQUESTER = "somebody who typed it in";

/** Sends the mail that confirms an address; nobody waits for it. */
export function sendVerificationMail(ctx: SessionContext, to: string, token: string): void {
  ctx.services.accounts
    .sendLink("verification", to, token, ANONYMOUS_REQUESTER)
    .catch((err: unknown) => ctx.services.log.warn({ err }, "mail not sent"));
}
