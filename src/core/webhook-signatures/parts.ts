/** Parts of the checks of several schemes. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { headerText } from "../header-text.ts";
import type { SignatureRefusal, SignatureResult, SignedRequest } from "./types.ts";

/** Maximum number of signatures of one request that are compared. */
const MAX_SIGNATURES = 20;
/** Maximum length of a delivery id, in characters. */
const MAX_ID_CHARS = 200;

/**
 * The value of a header; undefined when it is missing. One that was sent more than once is the list of its values, with commas
 * (RFC 9110, section 5.3), which is no value of a scheme with one.
 */
export function headerOf(request: SignedRequest, name: string): string | undefined {
  const value = rawHeaderOf(request, name);
  return value === undefined ? undefined : headerText(value);
}

/** As `headerOf`, with one character for each byte. */
export function rawHeaderOf({ headers }: SignedRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export const refused = (reason: SignatureRefusal, message: string): SignatureResult => ({
  valid: false,
  reason,
  message,
});

export const missingHeader = (name: string, hint: string): SignatureResult =>
  refused("missing", `The header ${name} is missing. ${hint}`);

export const mismatch = (name: string): SignatureResult =>
  refused(
    "mismatch",
    `The signature in ${name} does not belong to this body. Check that the sender signs with the secret of this trigger, ` +
      "and that nothing between changes the body.",
  );

/** An id that a header gives; null for one that can't be an id. */
export const idOf = (value: string | undefined): string | null =>
  value !== undefined && value.length <= MAX_ID_CHARS ? value : null;

/** @param name the header of an id that `idOf` does not accept */
export const longId = (name: string): SignatureResult =>
  refused("malformed", `${name} must have an id of at most ${MAX_ID_CHARS} characters.`);

/** A value from outside, for a message. */
export const shown = (value: string): string => JSON.stringify(value.slice(0, 40));

/**
 * Whether one of the signatures is that of the content under one of the secrets. It takes the same time wherever a signature
 * differs, and texts are compared as they are: another spelling of the same bytes is refused.
 */
export function isSigned(
  content: readonly (string | Buffer)[],
  keys: readonly (string | Buffer)[],
  signatures: readonly string[],
  encoding: "hex" | "base64",
  algorithm: "sha256" | "sha1" | "sha512" = "sha256",
): boolean {
  const given = signatures.slice(0, MAX_SIGNATURES);
  let found = false;
  for (const key of keys) {
    const hmac = createHmac(algorithm, key);
    for (const part of content) hmac.update(part);
    const expected = hmac.digest(encoding);
    for (const signature of given) found = isEqual(signature, expected) || found;
  }
  return found;
}

/** Compares texts in a time that does not depend on where they differ. */
export function isEqual(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
