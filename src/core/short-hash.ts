import { createHash } from "node:crypto";

/** Hashes text to 22 characters (132 bits): short enough for ids and keys, too long to collide. */
export const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 22);
