import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { AppError } from "./errors.ts";
import type { CursorCodec } from "./ports.ts";

const MAC_BYTES = 16;
const NUMBER_BYTES = 8;
const SEALED_BYTES = MAC_BYTES + NUMBER_BYTES;
/** Keeps the MACs of sealed numbers apart from those of cursors, whose queries are JSON. */
const SEALED = "sealed number";
const EncodedPosition = z.tuple([z.string(), z.string()]);

/**
 * Encodes positions in a list as cursors, with a MAC over the position and the list, so that clients can't forge them.
 * @param key a secret that all processes of this instance share
 */
export function cursorCodec(key: Buffer): CursorCodec {
  const macOf = (query: string, position: Buffer): Buffer =>
    createHmac("sha256", key).update(query).update("\0").update(position).digest().subarray(0, MAC_BYTES);

  const sealKey = createHmac("sha256", key).update("seal").digest();
  /** Encrypts or decrypts; the MAC of the number is the counter, so the same number gives the same text. */
  const crypt = (mac: Buffer, bytes: Buffer): Buffer =>
    createCipheriv("aes-256-ctr", sealKey, mac).update(bytes);

  return {
    seal(number) {
      // All of one length, which would show how large the number is.
      const bytes = Buffer.alloc(NUMBER_BYTES);
      bytes.writeBigUInt64BE(BigInt(number));
      const mac = macOf(SEALED, bytes);
      return Buffer.concat([mac, crypt(mac, bytes)]).toString("base64url");
    },
    unseal(sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      const mac = bytes.subarray(0, MAC_BYTES);
      // Decoders ignore unknown characters and bits, so other spellings are rejected, as those of cursors are.
      const isCanonical = bytes.length === SEALED_BYTES && bytes.toString("base64url") === sealed;
      const number = isCanonical ? crypt(mac, bytes.subarray(MAC_BYTES)) : undefined;
      if (number === undefined || !timingSafeEqual(mac, macOf(SEALED, number))) throw invalidCursor();
      return Number(number.readBigUInt64BE());
    },
    encode(query, position) {
      const bytes = Buffer.from(JSON.stringify(position));
      return Buffer.concat([macOf(query, bytes), bytes]).toString("base64url");
    },
    decode(query, cursor) {
      const bytes = Buffer.from(cursor, "base64url");
      const mac = bytes.subarray(0, MAC_BYTES);
      const position = bytes.subarray(MAC_BYTES);
      // Decoders ignore unknown characters, so other spellings of a cursor are rejected.
      const isAuthentic =
        mac.length === MAC_BYTES &&
        bytes.toString("base64url") === cursor &&
        timingSafeEqual(mac, macOf(query, position));
      if (!isAuthentic) throw invalidCursor();
      return EncodedPosition.parse(JSON.parse(position.toString()));
    },
  };
}

const invalidCursor = (): AppError =>
  new AppError(
    "invalid_cursor",
    "The cursor does not belong to this list. Use next_cursor of the previous page with the same filters and sort, or leave the cursor out to start from the beginning.",
  );
