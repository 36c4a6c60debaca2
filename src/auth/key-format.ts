/**
 * The value of an API key: `mill_`, 30 random base62 characters (178 bits), and 6 base62 characters of their CRC32.
 * With the checksum, a mistyped key is refused without a database query, and secret scanners recognize keys.
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "mill_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^${PREFIX}([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** Returns `length` random base62 characters, evenly distributed. */
export function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: higher values would favour the first letters.
      if (byte < 248 && out.length < length) out += ALPHABET[byte % 62]!;
    }
  }
  return out;
}

function checksum(secret: string): string {
  let rest = crc32(PREFIX + secret);
  let out = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    out = ALPHABET[rest % 62]! + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

/** Generates a new key value, which is not stored anywhere. */
export function newKeyValue(): string {
  const secret = randomBase62(SECRET_LENGTH);
  return PREFIX + secret + checksum(secret);
}

/** Whether `value` has the format and the checksum of a key. */
export function isKeyValue(value: string): boolean {
  const match = FORMAT.exec(value);
  return match !== null && checksum(match[1]!) === match[2];
}

/** Whether `text` is a key, or a mistyped or cut one. */
export const resemblesKeyValue = (text: string): boolean => text.trim().startsWith(PREFIX);

/** The digest that is stored of a key. A fast hash is enough, because the secret has 178 bits. */
export const digestOf = (value: string): Buffer => hash("sha256", value, "buffer");
