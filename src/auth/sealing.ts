/** Encrypts values that others store for this server, and must neither read nor change: a browser cookie, a session's row. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/**
 * Derives the key for one purpose from a shared secret (HKDF with SHA-256, RFC 5869).
 * @param secret at least 128 random bits
 */
export const sealingKey = (secret: string | Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));

/** Encrypts and authenticates a JSON value (AES-256-GCM, NIST SP 800-38D, with a random nonce). */
export function seal(key: Buffer, value: unknown): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
}

/** Decrypts a sealed value; undefined if it was changed, or sealed with another key. */
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
