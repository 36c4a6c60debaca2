/** Sends mails of email steps through the configured SMTP server, only to domains that the operator allows. */
import { createHash } from "node:crypto";
import { canonicalDomain, mailAddressIssue, mailDomain } from "../../../schemas/mail-address.ts";
import type { Attachment, Mail, Mailer } from "../../core/connections.ts";
import type { SecretSource } from "../../core/secret-source.ts";
import { StepError } from "../../core/step-errors.ts";
import type { FairPool } from "../fair-pool.ts";
import { type ConnectionConfig, missingFix } from "../limit-config.ts";
import { createSmtpClient } from "./smtp.ts";

const MAX_RECIPIENTS = 50;
/** Maximum size of the text and the HTML together, in bytes. */
const MAX_BODY_BYTES = 1024 ** 2;
/** Maximum size of all attachments together, in bytes. */
const MAX_ATTACHMENT_BYTES = 3 * 1024 ** 2;
const KEY = "mail.allowed_domains";

/**
 * @param secrets the value of the password, which can change
 * @param places the connections to the server, which owners share
 */
export function createMailer(
  config: Pick<ConnectionConfig, "authentication" | "mail" | "isLimited">,
  secrets: SecretSource,
  places?: FairPool,
): Mailer {
  const smtp = createSmtpClient(config, secrets, places);
  const domains = config.mail.allowed_domains.map(canonicalDomain);

  return {
    unavailableReason: smtp.unusableReason,
    allowedDomains: () => domains,
    async send(mail, call) {
      const reason = smtp.unusableReason();
      if (reason !== null) throw new StepError("environment", reason);
      call.signal.throwIfAborted();
      checkMail(mail, domains, config);
      const { to, cc, subject, text, html, attachments = [] } = mail;
      const messageId = messageIdOf(mail.idempotencyKey, smtp.from);
      const content = {
        text,
        ...(html !== undefined && { html }),
        ...(attachments.length > 0 && { attachments: attachments.map(toMessagePart) }),
        messageId,
      };
      return { message_id: messageId, accepted: await smtp.send({ to, cc, subject, ...content }, call) };
    },
  };
}

/** The attachment as the mail library takes it. Text without a charset is marked as the UTF-8 that it is. */
function toMessagePart({ name, content, content_type: type }: Attachment) {
  const contentType =
    type !== undefined && /^text\//i.test(type) && !/charset=/i.test(type) ? `${type}; charset=utf-8` : type;
  return { filename: name, content, ...(contentType !== undefined && { contentType }) };
}

/** The Message-ID. A mail that is sent again has the same one, so that the receiver can detect it. */
function messageIdOf(key: string, from: string): string {
  return `<${createHash("sha256").update(key).digest("hex").slice(0, 40)}@${mailDomain(from)}>`;
}

/** @throws StepError mail_refused, input_invalid */
function checkMail(
  { to, cc = [], text, html = "", attachments = [] }: Mail,
  domains: readonly string[],
  config: Pick<ConnectionConfig, "isLimited">,
): void {
  const all = [...to, ...cc];
  if (to.length === 0)
    throw new StepError("input_invalid", "The mail has no recipients, because to is empty.");
  if (all.length > MAX_RECIPIENTS)
    throw new StepError(
      "input_invalid",
      `The mail must have at most ${MAX_RECIPIENTS} recipients (to and cc together), got ${all.length}.`,
    );
  if (Buffer.byteLength(text) + Buffer.byteLength(html) > MAX_BODY_BYTES)
    throw new StepError("input_invalid", "The mail is larger than 1 MiB.", {
      fix: "Store the data where people can download it, and send a link.",
    });
  const attached = attachments.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (attached > MAX_ATTACHMENT_BYTES)
    throw new StepError(
      "input_invalid",
      `The attachments have ${attached} bytes; at most 3 MiB are allowed.`,
      {
        fix: "Store the data where people can download it, and send a link.",
      },
    );
  for (const address of all) {
    const issue = mailAddressIssue(address);
    if (issue !== undefined)
      throw new StepError(
        "input_invalid",
        `The recipient ${JSON.stringify(address.slice(0, 100))} ${issue.message}.`,
        { fix: issue.fix },
      );
  }
  const refused = [...new Set(all.map(mailDomain))].filter((domain) => !domains.includes(domain));
  if (refused.length === 0) return;
  const allowed = domains.length === 0 ? "no domain is allowed" : `allowed domains: ${domains.join(", ")}`;
  throw new StepError(
    "mail_refused",
    `Mail to ${refused.slice(0, 10).join(", ")} is not allowed; ${allowed}.`,
    {
      fix: missingFix(config, `Ask the operator to add the domain to ${KEY} in the configuration.`),
      details: { allowed_domains: domains },
    },
  );
}
