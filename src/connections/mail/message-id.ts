import { createHash } from "node:crypto";
import { domainOf } from "../../core/mail/domain-of.ts";

/** The Message-ID. A mail that is sent again has the same one, so that the receiver can detect it. */
export const messageIdOf = (key: string, from: string): string =>
  `<${createHash("sha256").update(key).digest("hex").slice(0, 40)}@${domainOf(from)}>`;
