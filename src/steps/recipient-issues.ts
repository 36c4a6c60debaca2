import { EXPRESSION_PATTERN } from "../../schemas/field-values.ts";
import { mailAddressIssue, mailDomain } from "../../schemas/mail-address.ts";
import type { Mailer, PartialIssue } from "../core/connections.ts";
import type { UnresolvedStep } from "../core/step-type.ts";

/**
 * Checks the mail addresses of a field that have no expression: their form, and whether mail may go to their domain.
 * @param field one that holds an address or a list of addresses, or nothing
 */
export function recipientIssues(field: string, step: UnresolvedStep, mailer: Mailer): PartialIssue[] {
  const written = step[field];
  const allowed = mailer.allowedDomains();
  return (Array.isArray(written) ? written : [written]).flatMap((address: unknown, index): PartialIssue[] => {
    if (typeof address !== "string" || EXPRESSION_PATTERN.test(address)) return [];
    const path = Array.isArray(written) ? [field, index] : [field];
    const issue = mailAddressIssue(address);
    if (issue !== undefined) return [{ path, code: "wrong_format", ...issue }];
    const domain = mailDomain(address);
    if (allowed.includes(domain)) return [];
    return [
      {
        path,
        code: "mail_refused",
        message: `must be an address in an allowed domain, got the domain ${domain}`,
        allowed: [...allowed],
        fix: "Use an allowed domain, or ask the operator to add this one to mail.allowed_domains in the configuration.",
      },
    ];
  });
}
