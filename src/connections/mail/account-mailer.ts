/** Sends mails about accounts, through the same SMTP server as email steps. */
import type { Config } from "../../../schemas/config.ts";
import { mailAddressIssue } from "../../../schemas/mail-address.ts";
import { SECOND } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { AccountMailer } from "../../core/mail-port.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { createSmtpClient } from "./smtp.ts";

const SEND_TIMEOUT_MS = 20 * SECOND;

/**
 * Unlike email steps, account mails can go to any domain, because admins choose the recipients.
 * @param secrets the value of the password, which can change
 * @param timeoutMs time limit for sending a mail, in milliseconds
 */
export function createAccountMailer(
  config: Pick<Config, "authentication" | "mail">,
  secrets: SecretSource,
  timeoutMs: number = SEND_TIMEOUT_MS,
): AccountMailer {
  const smtp = createSmtpClient(config, secrets);
  return {
    get configured() {
      return smtp.unusableReason() === null;
    },
    async send({ to, subject, text, html }, { owner = to, signal: given } = {}) {
      const issue = mailAddressIssue(to);
      if (issue !== undefined)
        throw new AppError("invalid_input", `The recipient ${issue.message}. ${issue.fix}`);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = given === undefined ? timeout : AbortSignal.any([given, timeout]);
      // Prevents automatic replies (RFC 3834, 5).
      const headers = { "Auto-Submitted": "auto-generated" };
      try {
        await smtp.send({ to: [to], subject, text, html, headers }, { owner, signal });
      } catch (error) {
        if (error === timeout.reason)
          throw new AppError(
            "connection_failed",
            `The mail server did not accept the mail within ${timeoutMs / SECOND} s. Check smtp_server and smtp_port of authentication.basic, and firewalls.`,
            { cause: error },
          );
        if (!(error instanceof StepError)) throw error;
        const { message, options } = error;
        throw new AppError("connection_failed", `${message} ${options.fix ?? ""}`.trim(), { cause: error });
      }
    },
  };
}
