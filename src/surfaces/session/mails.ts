import type { SessionContext } from "./endpoint.ts";

/** The requester that a mail names when the request was not authenticated. */
export const ANONYMOUS_REQUESTER = "somebody who typed it in";

/** Sends the mail that verifies an address, without waiting for it. */
export function sendVerificationMail(ctx: SessionContext, to: string, token: string): void {
  ctx.services.accounts
    .sendLink("verification", to, token, ANONYMOUS_REQUESTER, null)
    .catch((err: unknown) => ctx.services.log.warn({ err }, "verification mail not sent"));
}
