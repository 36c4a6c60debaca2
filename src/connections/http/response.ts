/** Reads a response body with a size limit, and decompresses it. */
import { pipeline } from "node:stream/promises";
import { type Readable, Transform, Writable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { joinHeaderValues } from "../../core/header-text.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import type { RawHeaders } from "./response-headers.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};
/** The Accept-Encoding header of requests. */
export const ACCEPT_ENCODING = "gzip, br";
/** Maximum number of nested encodings, against decompression bombs. */
const MAX_ENCODINGS = 2;

interface ReadOptions {
  /** Maximum size of the body, compressed and decompressed, in bytes. */
  maxBytes: number;
  mask: Masker;
  signal: AbortSignal;
}

/**
 * Reads and decompresses the whole body.
 * @throws StepError output_too_large, http_failed; what the streams throw
 */
export async function readBody(
  body: Readable,
  headers: RawHeaders,
  { maxBytes, mask, signal }: ReadOptions,
): Promise<Buffer> {
  const decoders = decodersOf(headers, body, mask);
  const contentLength = Number(joinHeaderValues(headers["content-length"]));
  if (contentLength > maxBytes) {
    discardBody(body);
    throw tooLarge(`${contentLength} bytes`, maxBytes);
  }
  const parts: Buffer[] = [];
  const whole = new Writable({
    write: counted(maxBytes, (part) => void parts.push(part)),
  });
  if (decoders.length === 0) {
    await pipeline([body, whole], { signal });
    return Buffer.concat(parts);
  }
  let isEmpty = false;
  let isStarted = false;
  // The compressed bytes are counted too: an endless stream may decompress to nothing.
  const wire = new Transform({
    transform: counted(maxBytes, (part) => {
      isStarted = true;
      return part;
    }),
    // Not called when the connection ends before the body does.
    flush(done) {
      isEmpty = !isStarted;
      done();
    },
  });
  try {
    await pipeline([body, wire, ...decoders, whole], { signal });
  } catch (error) {
    // Servers and proxies also name the coding of a body that they don't send.
    if (!isEmpty) throw error;
  }
  return Buffer.concat(parts);
}

/** Whether a response has no body, whatever its headers say (RFC 9112, section 6.3). */
export const hasNoBody = (method: string, status: number): boolean =>
  method === "HEAD" || status < 200 || status === 204 || status === 304;

/** The most bytes that a body can have: its declared length, unless it is compressed. */
export function expectedBytes(headers: RawHeaders, maxBytes: number): number {
  const declared = joinHeaderValues(headers["content-length"]);
  const isCompressed = !["", "identity"].includes(
    joinHeaderValues(headers["content-encoding"]).toLowerCase(),
  );
  return declared === "" || isCompressed ? maxBytes : Math.min(Number(declared), maxBytes);
}

/** Handles each part; fails if the parts have more than `maxBytes` together. */
function counted(maxBytes: number, handle: (part: Buffer) => Buffer | void) {
  let size = 0;
  return (part: Buffer, _encoding: string, done: (error?: Error | null, out?: Buffer) => void): void => {
    size += part.length;
    if (size > maxBytes) return done(tooLarge(`more than ${maxBytes} bytes`, maxBytes));
    const out = handle(part);
    return out === undefined ? done() : done(null, out);
  };
}

/** Ends a response without reading its body. */
export function discardBody(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

function decodersOf(headers: RawHeaders, body: Readable, mask: Masker): Transform[] {
  const names = joinHeaderValues(headers["content-encoding"])
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  const unknown = names.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown === undefined && names.length <= MAX_ENCODINGS)
    return names.toReversed().map((name) => DECODERS[name]!());
  discardBody(body);
  const encoding = unknown === undefined ? `${names.length} layers` : `"${mask.text(unknown).slice(0, 50)}"`;
  throw new StepError("http_failed", `The response is compressed with ${encoding}, which is not supported.`, {
    fix: `Set the header Accept-Encoding to ${ACCEPT_ENCODING}, or to identity.`,
    transient: false,
  });
}

const tooLarge = (size: string, maxBytes: number): StepError =>
  new StepError("output_too_large", `The response must have at most ${maxBytes} bytes, got ${size}.`, {
    fix: "Request less data (a filter, a page), or raise max_bytes.",
    details: { max_bytes: maxBytes },
  });
