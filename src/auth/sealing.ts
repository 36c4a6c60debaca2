/** What others may keep for us and neither read nor change: a browser in its cookie, the store beside a session. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/**
 * A key for one purpose out of a secret for several (HKDF with SHA-256, RFC 5869).
 * @param secret of at least 128 bits that nobody can guess
 */
export const sealingKey = (secret: string | Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));

/** A value of JSON, encrypted and authenticated (AES-256-GCM, NIST SP 800-38D, with a random nonce). */
export function seal(key: Buffer, value: unknown): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
}

/** What `seal` was given; undefined when it was changed, or sealed with another key. */
export function unseal(key: Buffer, sealed: Buffer): unknown {
  if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES));
  try {
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString("utf8"));
  } catch {
    return undefined;
  }
}
