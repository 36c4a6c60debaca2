/** Cursors that only this instance can have made: a position with a MAC over it and the list it belongs to. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { AppError } from "./errors.ts";
import type { CursorCodec } from "./ports.ts";

const MAC_BYTES = 16;
const EncodedPosition = z.tuple([z.string(), z.string()]);

/** @param key a secret that every copy of this instance shares */
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
      // base64url ignores what it does not know: only the one spelling that we gave out is taken.
      const ours =
        mac.length === MAC_BYTES &&
        bytes.toString("base64url") === cursor &&
        timingSafeEqual(mac, macOf(query, position));
      if (!ours) {
        throw new AppError(
          "invalid_cursor",
          "This cursor was not made for this list. Take next_cursor from the page before, with the same filters and sort, or leave the cursor out to begin anew.",
        );
      }
      return EncodedPosition.parse(JSON.parse(position.toString()));
    },
  };
}
