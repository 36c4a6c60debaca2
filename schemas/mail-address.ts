/**
 * The rule for mail addresses, the same wherever one is written, checked, compared or sent: a dot-atom before the @ (RFC 5321), with
 * letters of every script (RFC 6531), and a domain name after it, in any script or in its ASCII form (UTS 46). Refused although
 * RFC 5321 has them: parts in quotes, IP addresses as domains and domains without a dot. Mail servers rarely accept them, and a text
 * with one is more often a mistake.
 */
import { z } from "zod";
import { codePointName, findHiddenCharacter } from "./hidden-characters.ts";

/** Why a text is no mail address. */
export interface AddressIssue {
  /** What is wrong, without a subject: "must be …". */
  message: string;
  fix: string;
  /** The address that was probably meant. */
  did_you_mean?: string;
}

interface Reason {
  reason: string;
  fix: string;
}

/** Maximum lengths in bytes (RFC 5321, 4.5.3.1, with the correction of RFC 3696's erratum 1690; RFC 1035, 2.3.4). */
const MAX_ADDRESS = 254;
const MAX_LOCAL_PART = 64;
const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
/** Maximum length of a text that is examined, in UTF-16 units. */
const MAX_EXAMINED = 1_000;

const ATEXT = /[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]/;
const NOT_IN_DOMAIN = /[^A-Za-z0-9.\-\u0080-\u{10FFFF}]|\p{Z}/u;
/**
 * Characters that show nothing, which texts may have: the blanks of Braille and of music, the place of an object, and the selectors of
 * a form. UTS 46 leaves selectors out of domains, so there they may follow the emoji for which they are made.
 */
const BLANK = /[\u2800\uFFFC\u{1D159}]|[\uFE0E\uFE0F](?=.*@)|(?<!\p{Extended_Pictographic})[\uFE0E\uFE0F]/u;
const LOCAL = "the part before the @";

const bytes = (text: string): number => new TextEncoder().encode(text).length;
const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** @returns undefined when the text is a mail address */
export function mailAddressIssue(text: string): AddressIssue | undefined {
  const found = reasonOf(text);
  if (found === undefined) return undefined;
  const message = `must be a mail address such as ada@example.com, but ${found.reason}`;
  const intended = text.length > MAX_EXAMINED ? text : intendedAddress(text);
  return intended === text || reasonOf(intended) !== undefined
    ? { message, fix: found.fix }
    : { message, fix: `Write ${intended}.`, did_you_mean: intended };
}

export const isMailAddress = (text: string): boolean => reasonOf(text) === undefined;

/** Reports the issue of a text that is no mail address. */
export function checkMailAddress(ctx: z.core.ParsePayload<string>): void {
  const issue = mailAddressIssue(ctx.value);
  if (issue === undefined) return;
  const { message, ...params } = issue;
  ctx.issues.push({
    code: "custom",
    params: { code: "wrong_format", ...params },
    message,
    continue: true,
    input: ctx.value,
  });
}

/** A mail address, as it is written. */
export const MailAddress = z.string().check(checkMailAddress).meta({ maxLength: MAX_ADDRESS });

function reasonOf(text: string): Reason | undefined {
  if (text.length > MAX_EXAMINED) return tooLong("the address", text.length, MAX_ADDRESS);
  const hidden = findHiddenCharacter(text, "line");
  const blank = BLANK.exec(text)?.[0];
  const unseen = hidden ?? (blank && codePointName(blank));
  if (unseen !== undefined) return { reason: `it has the hidden character ${unseen}`, fix: "Remove it." };
  const at = text.lastIndexOf("@");
  if (at < 0) return { reason: "it has no @", fix: "Write the name of the mailbox, an @ and the domain." };
  // Searched from one @ to the other: a pattern would try each pair of them.
  if (/[,;]/.test(text.slice(text.indexOf("@"), at)))
    return {
      reason: "it has several addresses",
      fix: "Write one address. Where a list is allowed, each address is an item of it.",
    };
  if (/[<>]/.test(text))
    return { reason: "it has angle brackets", fix: "Write only the address, without a display name." };
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  return localReason(local) ?? domainReason(domain) ?? lengthReason(local, domain);
}

function localReason(local: string): Reason | undefined {
  if (local === "") return { reason: "nothing is before the @", fix: "Write the name of the mailbox there." };
  if (/^"[^]*"$/.test(local))
    return { reason: `${LOCAL} is in quotes`, fix: "Use an address of the mailbox that needs no quotes." };
  const other = Array.from(local).find((one) => (one < "\u0080" ? !ATEXT.test(one) : /\p{Z}/u.test(one)));
  if (other !== undefined)
    return {
      reason: `${LOCAL} has ${other === " " ? "a space" : quoted(other)}, which is not allowed there`,
      fix: "Correct the address: letters, digits, dots and !#$%&'*+-/=?^_`{|}~ are allowed.",
    };
  if (/^\.|\.\.|\.$/.test(local))
    return {
      reason: `${LOCAL} begins or ends with a dot, or has two in a row`,
      fix: "Write a dot only between other characters.",
    };
  if (local.normalize("NFC") !== local)
    return {
      reason: `${LOCAL} is not in the Unicode form NFC, so it could be another mailbox`,
      fix: `Write ${local.normalize("NFC")} there.`,
    };
  const length = bytes(local);
  return length > MAX_LOCAL_PART ? tooLong(LOCAL, length, MAX_LOCAL_PART) : undefined;
}

function domainReason(domain: string): Reason | undefined {
  if (domain === "")
    return { reason: "nothing is after the @", fix: "Write the domain there, such as example.com." };
  if (/^\[.*\]$/.test(domain) || /^\d+(?:\.\d+){3}$/.test(domain))
    return { reason: "its domain is an IP address", fix: "Write the domain name, such as example.com." };
  const other = NOT_IN_DOMAIN.exec(domain)?.[0];
  if (other !== undefined)
    return {
      reason: `its domain has ${other === " " ? "a space" : quoted(other)}, which is not allowed there`,
      fix: "Write a domain of letters, digits, hyphens and dots, such as example.com.",
    };
  const ascii = asciiOf(domain);
  if (ascii === undefined)
    return {
      reason: `its domain ${quoted(domain)} has no valid form in ASCII (UTS 46)`,
      fix: "Correct the domain, such as one with letters of several scripts or a wrong xn-- part.",
    };
  const labels = ascii.split(".");
  if (labels.includes(""))
    return {
      reason: "its domain begins or ends with a dot, or has two in a row",
      fix: "Write one dot between the parts of the domain, and none at its end.",
    };
  if (labels.length === 1)
    return {
      reason: `its domain ${quoted(domain)} has no dot`,
      fix: "Write the complete domain, such as example.com.",
    };
  const hyphen = labels.find((label) => /^-|-$/.test(label));
  if (hyphen !== undefined)
    return {
      reason: `the part ${quoted(hyphen)} of its domain begins or ends with a hyphen`,
      fix: "Write a hyphen only between letters and digits.",
    };
  if (/^\d+$/.test(labels.at(-1)!))
    return {
      reason: `its domain ends with the number ${labels.at(-1)!.slice(0, 100)}`,
      fix: "Write the domain name, such as example.com.",
    };
  const long = labels.find((label) => label.length > MAX_LABEL);
  if (long !== undefined) return tooLong(`the part ${quoted(long)} of its domain`, long.length, MAX_LABEL);
  return ascii.length > MAX_DOMAIN ? tooLong("its domain", ascii.length, MAX_DOMAIN) : undefined;
}

function lengthReason(local: string, domain: string): Reason | undefined {
  const length = bytes(`${local}@${canonicalDomain(domain)}`);
  return length > MAX_ADDRESS ? tooLong("the address", length, MAX_ADDRESS) : undefined;
}

const tooLong = (what: string, length: number, most: number): Reason => ({
  reason: `${what} has ${length} bytes, the maximum is ${most}`,
  fix: "Use a shorter address.",
});

/** The address in what people copy: with a display name, as a link, in quotes that it does not need, with spaces around it. */
function intendedAddress(text: string): string {
  const inner = /^[^<>]*<([^<>]*)>\s*$/.exec(text)?.[1] ?? text;
  return inner
    .trim()
    .replace(/^mailto:/i, "")
    .replaceAll("\uFF20", "@")
    .replace(/^"([^"\\]*)"@/, "$1@")
    .replace(/\.$/, "")
    .normalize("NFC");
}

/** The ASCII form that browsers and the DNS use for a host; undefined for none. */
function asciiOf(domain: string): string | undefined {
  // The parser of URLs would decode %41 and cut at a colon or a slash.
  if (domain === "" || NOT_IN_DOMAIN.test(domain)) return undefined;
  // ASCII that is no xn-- name has no other form, but the parser takes numbers for IP addresses.
  if (/^[A-Za-z0-9.-]+$/.test(domain) && !/xn--/i.test(domain)) return domain.toLowerCase();
  return URL.parse(`http://${domain}`)?.hostname;
}

/** A domain in the form in which domains are compared and sent: ASCII, in lower case. What is no domain is returned in lower case. */
export const canonicalDomain = (domain: string): string => asciiOf(domain) ?? domain.toLowerCase();

/** The domain of an address, as `canonicalDomain` writes it. */
export const mailDomain = (address: string): string =>
  canonicalDomain(address.slice(address.lastIndexOf("@") + 1));

const lower = (text: string): string => text.toLowerCase().normalize("NFC");

/**
 * An address in the form in which addresses are compared: in lower case and NFC, with the domain in ASCII. RFC 5321 allows mailboxes
 * that differ only in case, but no provider has them. What is no address is returned in lower case and NFC.
 */
export function canonicalAddress(address: string): string {
  const at = address.lastIndexOf("@");
  return at < 1 ? lower(address) : `${lower(address.slice(0, at))}@${mailDomain(address)}`;
}
