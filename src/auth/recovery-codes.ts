/** Codes for signing in without the second factor. Each works once, and only digests are stored. */
import { randomBytes } from "node:crypto";
import { digestOf } from "./key-format.ts";

const COUNT = 10;
/** Without i, l, o and u, which are misread or make words (as in Crockford's base32). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** With 80 bits, a fast digest is enough for storage. */
const LENGTH = 16;

/** Returns ten random codes, and the digests to store. */
export function newRecoveryCodes(userId: string): { codes: string[]; digests: Buffer[] } {
  const codes = Array.from({ length: COUNT }, () => {
    const letters = Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join("");
    return letters.match(/.{4}/g)!.join("-");
  });
  return { codes, digests: codes.map((code) => recoveryCodeDigest(userId, code)) };
}

/** The digest of a code as a person types it. It contains the user, so that equal codes of two people differ. */
export const recoveryCodeDigest = (userId: string, typed: string): Buffer =>
  digestOf(`${userId} ${typed.toLowerCase().replaceAll(/[^0-9a-z]/g, "")}`);
