/**
 * The value of an API key: `mill_`, 30 random base62 characters (178 bits), and 6 base62 characters of their CRC32.
 * The checksum lets a mistyped key be refused without a look-up and secret scanners tell a key from a look-alike.
 */
import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "mill_";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^${PREFIX}([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** `length` base62 characters, each equally likely. */
export function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 is the largest multiple of 62 in a byte: what is above would favour the first letters.
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

/** A new key value. It is nowhere but in what this gives. */
export function newKeyValue(): string {
  const secret = randomBase62(SECRET_LENGTH);
  return PREFIX + secret + checksum(secret);
}

/** Whether `value` can be a key at all: format and checksum. */
export function isKeyValue(value: string): boolean {
  const match = FORMAT.exec(value);
  return match !== null && checksum(match[1]!) === match[2];
}

/** What is stored of a key. A fast hash is enough: the secret has 178 bits. */
export const digestOf = (value: string): Buffer => hash("sha256", value, "buffer");
