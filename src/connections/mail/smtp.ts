/** The client of the configured SMTP server, for email steps and account mails. */
import type { createTransport, SendMailOptions } from "nodemailer";
import type { Config } from "../../../schemas/config.ts";
import { isMailAddress } from "../../../schemas/mail-address.ts";
import type { CallContext } from "../../core/connections.ts";
import { type SecretSource, withSecrets } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import { createFairPool, type FairPool } from "../fair-pool.ts";
import { isLoginRefusal, mailStepError } from "./errors.ts";
import { requireInternationalMail } from "./international-mail.ts";
import { type TransportOptions, transportOptions } from "./transport-options.ts";

export interface SmtpClient {
  /** Why mail cannot be sent, or null. */
  unusableReason(): string | null;
  /** The sender of all mail. */
  from: string;
  /**
   * Sends a mail that has been checked, when its owner has a turn. @returns the addresses that the server accepted
   * @throws StepError environment, mail_failed; the signal's reason
   */
  send(mail: Message, call: CallContext): Promise<string[]>;
  /** Connects, encrypts and logs in, without sending a mail. @throws StepError like `send` */
  verify(signal: AbortSignal): Promise<void>;
}

type Transport = ReturnType<typeof createTransport>;
type Message = Pick<SendMailOptions, "text" | "html" | "messageId" | "headers" | "attachments"> & {
  to: readonly string[];
  cc?: readonly string[] | undefined;
  subject: string;
};

/** Maximum number of connections of a process to the mail server. */
const MAX_CONNECTIONS = 8;

/** The connections of a process to the mail server, in which owners take turns. */
export const mailPlaces = (): FairPool => createFairPool(MAX_CONNECTIONS);

/**
 * @param secrets the value of the password, which can change
 * @param places the connections to the server; left out, those of this client
 */
export function createSmtpClient(
  config: Pick<Config, "authentication" | "mail">,
  secrets: SecretSource,
  places: FairPool = mailPlaces(),
): SmtpClient {
  const smtp = config.authentication.basic;
  const from = config.mail.from ?? smtp?.smtp_user ?? "";

  function unusableReason(): string | null {
    if (smtp === undefined)
      return "Mail is not configured. Set authentication.basic (smtp_user, smtp_password_var, smtp_server, smtp_port) in the configuration.";
    const missing = secrets.missingReason(smtp.smtp_password_var);
    if (missing !== null)
      return `Mail cannot be sent, because it has no password (smtp_password_var in authentication.basic): ${missing}.`;
    if (!isMailAddress(from))
      return "Mail has no sender, because smtp_user is not an e-mail address. Set mail.from in the configuration.";
    return null;
  }

  /** Does work with a transport; once more if the password was refused and has been replaced, because nothing was sent. */
  async function withTransport<T>(
    signal: AbortSignal,
    work: (transport: Transport, options: TransportOptions) => Promise<T>,
  ): Promise<T> {
    const variables = smtp === undefined ? [] : [smtp.smtp_password_var];
    return withSecrets(secrets, variables, { isRefusal: isLoginRefusal, signal }, async () => {
      const reason = unusableReason();
      if (reason !== null || smtp === undefined) throw new StepError("environment", reason!);
      const nodemailer = await import("nodemailer");
      try {
        const options = transportOptions(smtp, secrets.get(smtp.smtp_password_var)!);
        return await work(nodemailer.createTransport(options), options);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof StepError) throw error;
        throw mailStepError(error, smtp);
      }
    });
  }

  return {
    unusableReason,
    from,
    send: ({ to, cc = [], subject, ...content }, call) =>
      places.run(call, () =>
        withTransport(call.signal, async (transport, options) => {
          await requireInternationalMail([from, ...to, ...cc], options, call.signal);
          const { accepted } = await transport.sendMail({
            ...content,
            // Addresses as objects are not parsed, so one address cannot contain a second one.
            from: plain(from),
            to: to.map(plain),
            cc: cc.map(plain),
            subject: subject.replaceAll(CONTROL, " "),
            disableFileAccess: true,
            disableUrlAccess: true,
            signal: call.signal,
          });
          return accepted.map(String);
        }),
      ),
    verify: (signal) =>
      withTransport(signal, async (transport) => {
        const close = (): void => transport.close();
        signal.addEventListener("abort", close, { once: true });
        try {
          await transport.verify();
        } finally {
          signal.removeEventListener("abort", close);
          close();
        }
      }),
  };
}

// oxlint-disable-next-line no-control-regex -- a header must not contain these characters
const CONTROL = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g;

const plain = (address: string): { name: string; address: string } => ({ name: "", address });
