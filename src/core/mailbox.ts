/**
 * Compares people by their addresses, for the rules that keep somebody from deciding twice or on their own work. Equal people are only ever
 * refused something: a rule that permits something compares whole addresses, because not every mail server ignores tags.
 */

import { foldText } from "../../schemas/fold-text.ts";
import { canonicalAddress } from "../../schemas/mail-address.ts";

/**
 * The mailbox of an address: in its canonical form, without its tag (RFC 5233, such as `ann+2@example.com`), folded, and with other
 * forms of letters, such as full-width ones, taken for the same.
 * @param subject an address; what is none, such as the lineage of a key, is returned as it is
 */
export function mailboxOf(subject: string): string {
  const at = subject.lastIndexOf("@");
  if (at < 1) return subject;
  const local = subject.slice(0, at).normalize("NFKC");
  const tag = local.indexOf("+", 1);
  return foldText(canonicalAddress(`${tag < 0 ? local : local.slice(0, tag)}${subject.slice(at)}`));
}

/** Whether two subjects may be the same person. */
export const samePerson = (a: string, b: string): boolean => mailboxOf(a) === mailboxOf(b);
