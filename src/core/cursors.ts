import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { AppError } from "./errors.ts";
import type { CursorCodec } from "./ports.ts";

const MAC_BYTES = 16;
const EncodedPosition = z.tuple([z.string(), z.string()]);

/**
 * Encodes positions in a list as cursors, with a MAC over the position and the list, so that clients can't forge them.
 * @param key a secret that all processes of this instance share
 */
export function cursorCodec(key: Buffer): CursorCodec {
  const macOf = (query: string, position: Buffer): Buffer =>
    createHmac("sha256", key).update(query).update("\0").update(position).digest().subarray(0, MAC_BYTES);

  return {
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
      if (!isAuthentic) {
        throw new AppError(
          "invalid_cursor",
          "The cursor does not belong to this list. Use next_cursor of the previous page with the same filters and sort, or leave the cursor out to start from the beginning.",
        );
      }
      return EncodedPosition.parse(JSON.parse(position.toString()));
    },
  };
}
