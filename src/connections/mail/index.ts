/** Mail through the configured SMTP server, to the domains that the operator allows and nobody else. */
import { createHash } from "node:crypto";
import type { Config } from "../../../schemas/config.ts";
import type { Mail, Mailer } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { type Environment, isEmailAddress, createSmtpClient } from "./smtp.ts";

const MOST_RECIPIENTS = 50;
const LARGEST_BODY = 1024 ** 2;
const KEY = "mail.allowed_domains";

/**
 * @param env where the variable with the password is looked up
 */
export function createMailer(config: Pick<Config, "authentication" | "mail">, env: Environment): Mailer {
  const smtp = createSmtpClient(config, env);
  const domains = config.mail.allowed_domains.map((it) => it.toLowerCase());

  return {
    unavailableReason: smtp.unusableReason,
    allowedDomains: () => domains,
    async send(mail, signal) {
      const why = smtp.unusableReason();
      if (why !== null) throw new StepError("environment", why);
      signal.throwIfAborted();
      refuseBadMail(mail, domains);
      const { to, cc, subject, text, html } = mail;
      const messageId = messageIdOf(mail.idempotencyKey, smtp.from);
      const content = { text, ...(html !== undefined && { html }), messageId };
      return { message_id: messageId, accepted: await smtp.send({ to, cc, subject, ...content }, signal) };
    },
  };
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase();

/** The same for a mail that is sent again, so that what receives it can tell. */
function messageIdOf(key: string, from: string): string {
  return `<${createHash("sha256").update(key).digest("hex").slice(0, 40)}@${domainOf(from)}>`;
}

/** @throws StepError mail_refused, input_invalid */
function refuseBadMail({ to, cc = [], text, html = "" }: Mail, domains: readonly string[]): void {
  const all = [...to, ...cc];
  if (to.length === 0) throw new StepError("input_invalid", "The mail has no recipient: to is empty.");
  if (all.length > MOST_RECIPIENTS)
    throw new StepError(
      "input_invalid",
      `The mail has ${all.length} recipients; ${MOST_RECIPIENTS} is the most, to and cc together.`,
    );
  if (Buffer.byteLength(text) + Buffer.byteLength(html) > LARGEST_BODY)
    throw new StepError("input_invalid", "The mail is larger than 1 MiB.", {
      fix: "Put the data where people can fetch it, and send the link.",
    });
  const wrong = all.find((it) => !isEmailAddress(it));
  if (wrong !== undefined)
    throw new StepError(
      "input_invalid",
      `"${wrong.slice(0, 100)}" is not a mail address such as ada@example.com.`,
    );
  const refused = [...new Set(all.map(domainOf))].filter((domain) => !domains.includes(domain));
  if (refused.length === 0) return;
  const allowed = domains.length === 0 ? "none is allowed yet" : `allowed are ${domains.join(", ")}`;
  throw new StepError(
    "mail_refused",
    `No mail may be sent to ${refused.slice(0, 10).join(", ")}; ${allowed}.`,
    {
      fix: `The operator adds the domain to ${KEY} in the configuration.`,
      details: { allowed_domains: domains },
    },
  );
}
