import type { Readable } from "node:stream";
import { SECOND } from "../../core/clock.ts";
import { joinHeaderValues } from "../../core/header-text.ts";
import type { Masker } from "../masking.ts";
import { discardBody } from "./response.ts";
import type { RawHeaders } from "./response-headers.ts";
import { decodeForDisplay } from "./response-text.ts";

/** How long the beginning of a body is waited for, in milliseconds. */
const WAIT_MS = 2 * SECOND;

/**
 * Reads the beginning of a body as text, with secrets masked. A body that is cut or does not end is no failure: what has arrived is
 * returned.
 * @param maxBytes the rest is not read
 */
export async function readStart(
  body: Readable,
  headers: RawHeaders,
  maxBytes: number,
  mask: Masker,
): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => body.destroy(), WAIT_MS);
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status of the response has arrived, and that is what counts.
  } finally {
    clearTimeout(timer);
    discardBody(body);
  }
  const start = Buffer.concat(parts).subarray(0, maxBytes);
  const contentType = joinHeaderValues(headers["content-type"]);
  const text = decodeForDisplay(start, { contentType, charset: undefined });
  return mask.text(text.replaceAll("\u0000", "").toWellFormed());
}
