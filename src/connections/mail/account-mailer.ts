/** Mails about accounts, through the same SMTP server as steps use. */
import type { Config } from "../../../schemas/config.ts";
import { SECOND } from "../../core/clock.ts";
import { AppError } from "../../core/errors.ts";
import type { AccountMailer } from "../../core/mail-port.ts";
import { StepError } from "../../core/step-errors.ts";
import { type Environment, isEmailAddress, createSmtpClient } from "./smtp.ts";

const AT_MOST = 20 * SECOND;

/**
 * Unlike workflows it writes to any domain: admins name their people.
 * @param env where the variable with the password is looked up
 * @param atMost how long one mail may take, in milliseconds
 */
export function createAccountMailer(
  config: Pick<Config, "authentication" | "mail">,
  env: Environment,
  atMost: number = AT_MOST,
): AccountMailer {
  const smtp = createSmtpClient(config, env);
  return {
    configured: smtp.unusableReason() === null,
    async send({ to, subject, text, html }, given) {
      if (!isEmailAddress(to))
        throw new AppError("invalid_input", "That is no mail address such as ada@example.com.");
      const late = AbortSignal.timeout(atMost);
      const signal = given === undefined ? late : AbortSignal.any([given, late]);
      // So that nobody's absence notice answers (RFC 3834, 5).
      const headers = { "Auto-Submitted": "auto-generated" };
      try {
        await smtp.send({ to: [to], subject, text, html, headers }, signal);
      } catch (error) {
        if (error === late.reason)
          throw new AppError(
            "connection_failed",
            `The mail server did not take the mail within ${atMost / SECOND} s. Check smtp_server and smtp_port of authentication.basic, and whether a firewall is in between.`,
            { cause: error },
          );
        if (!(error instanceof StepError)) throw error;
        const { message, options } = error;
        throw new AppError("connection_failed", `${message} ${options.fix ?? ""}`.trim(), { cause: error });
      }
    },
  };
}
