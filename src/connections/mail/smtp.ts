/** The configured SMTP server, as steps and the mails about accounts use it. */
import type { SendMailOptions } from "nodemailer";
import { z } from "zod";
import type { Config } from "../../../schemas/config.ts";
import { StepError } from "../../core/step-errors.ts";
import { describeVariable } from "../../core/variables.ts";
import { mailStepError } from "./errors.ts";
import { transportOptions } from "./transport-options.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SmtpClient {
  /** Why nothing can be sent, or null. */
  unusableReason(): string | null;
  /** The sender of all mail. */
  from: string;
  /**
   * Sends a mail that was looked at. @returns the addresses that the server took
   * @throws StepError environment, mail_failed; the signal's reason
   */
  send(mail: Message, signal: AbortSignal): Promise<string[]>;
  /** Connects, encrypts and logs in, and sends nothing. @throws StepError as `send` */
  verify(signal: AbortSignal): Promise<void>;
}

type Message = Pick<SendMailOptions, "text" | "html" | "messageId" | "headers"> & {
  to: readonly string[];
  cc?: readonly string[] | undefined;
  subject: string;
};

/**
 * @param env where the variable with the password is looked up
 */
export function createSmtpClient(
  config: Pick<Config, "authentication" | "mail">,
  env: Environment,
): SmtpClient {
  const smtp = config.authentication.basic;
  const from = config.mail.from ?? smtp?.smtp_user ?? "";

  function unusableReason(): string | null {
    if (smtp === undefined)
      return "Mail is not configured: set authentication.basic (smtp_user, smtp_password_var, smtp_server, smtp_port) in the configuration.";
    if (!env[smtp.smtp_password_var])
      return `Mail can't be sent: ${describeVariable(smtp.smtp_password_var)}, which authentication.basic names, is not set.`;
    if (!isEmailAddress(from))
      return "Mail has no sender: set mail.from in the configuration, because smtp_user is not an address.";
    return null;
  }

  return {
    unusableReason,
    from,
    async send({ to, cc = [], subject, ...content }, signal) {
      const why = unusableReason();
      if (why !== null || smtp === undefined) throw new StepError("environment", why!);
      const { createTransport } = await import("nodemailer");
      const transport = createTransport(transportOptions(smtp, env[smtp.smtp_password_var]!));
      try {
        const { accepted } = await transport.sendMail({
          ...content,
          // Addresses as objects: they are never parsed, so nothing in one can become a second one.
          from: plain(from),
          to: to.map(plain),
          cc: cc.map(plain),
          subject: subject.replaceAll(CONTROL, " "),
          disableFileAccess: true,
          disableUrlAccess: true,
          signal,
        });
        return accepted.map(String);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw mailStepError(error, smtp);
      }
    },
    async verify(signal) {
      const why = unusableReason();
      if (why !== null || smtp === undefined) throw new StepError("environment", why!);
      const { createTransport } = await import("nodemailer");
      const transport = createTransport(transportOptions(smtp, env[smtp.smtp_password_var]!));
      const close = (): void => transport.close();
      signal.addEventListener("abort", close, { once: true });
      try {
        await transport.verify();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw mailStepError(error, smtp);
      } finally {
        signal.removeEventListener("abort", close);
        close();
      }
    },
  };
}

// oxlint-disable-next-line no-control-regex -- these are what must not get into a header
const CONTROL = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g;

export const isEmailAddress = (text: string): boolean => z.email().safeParse(text).success;
const plain = (address: string): { name: string; address: string } => ({ name: "", address });
