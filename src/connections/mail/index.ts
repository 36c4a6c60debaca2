/** Mail through the configured SMTP server, to the domains that the operator allows and nobody else. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Config } from "../../../schemas/config.ts";
import type { Mail, Mailer } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { shownVariable } from "../../core/variables.ts";
import { mailFailure } from "./failures.ts";
import { transportOptions } from "./transport-options.ts";

const MOST_RECIPIENTS = 50;
const LARGEST_BODY = 1024 ** 2;
const KEY = "mail.allowed_domains";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param env where the variable with the password is looked up
 */
export function mailer(config: Pick<Config, "authentication" | "mail">, env: Environment): Mailer {
  const smtp = config.authentication.basic;
  const domains = config.mail.allowed_domains.map((it) => it.toLowerCase());
  const from = config.mail.from ?? smtp?.smtp_user;

  function unusable(): string | null {
    if (smtp === undefined)
      return "Mail is not configured: set authentication.basic (smtp_user, smtp_password_var, smtp_server, smtp_port) in the configuration.";
    if (!env[smtp.smtp_password_var])
      return `Mail can't be sent: ${shownVariable(smtp.smtp_password_var)}, which authentication.basic names, is not set.`;
    if (!isAddress(from ?? ""))
      return "Mail has no sender: set mail.from in the configuration, because smtp_user is not an address.";
    return null;
  }

  return {
    unusable,
    allowedDomains: () => domains,
    async send(mail, signal) {
      const why = unusable();
      if (why !== null || smtp === undefined) throw new StepError("environment", why!);
      signal.throwIfAborted();
      refuseBadMail(mail, domains);
      const { createTransport } = await import("nodemailer");
      const transport = createTransport(transportOptions(smtp, env[smtp.smtp_password_var]!));
      const messageId = messageIdOf(mail.idempotencyKey, from!);
      try {
        const { accepted } = await transport.sendMail({
          // Addresses as objects: they are never parsed, so nothing in one can become a second one.
          from: { name: "", address: from! },
          to: mail.to.map(plain),
          cc: (mail.cc ?? []).map(plain),
          subject: mail.subject.replaceAll(CONTROL, " "),
          text: mail.text,
          ...(mail.html !== undefined && { html: mail.html }),
          messageId,
          disableFileAccess: true,
          disableUrlAccess: true,
          signal,
        });
        return { message_id: messageId, accepted: accepted.map(String) };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw mailFailure(error, smtp);
      }
    },
  };
}

// oxlint-disable-next-line no-control-regex -- these are what must not get into a header
const CONTROL = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g;

const isAddress = (text: string): boolean => z.email().safeParse(text).success;
const plain = (address: string): { name: string; address: string } => ({ name: "", address });
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
  const wrong = all.find((it) => !isAddress(it));
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
