/** Reads a response body with a size limit, and decodes it by its content type. */
import { pipeline } from "node:stream/promises";
import { type Readable, Transform, Writable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { JsonTooDeepError, NumberTooLargeError, parseExactJson } from "../../core/json-text.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";

export type RawHeaders = Readonly<Record<string, string | string[] | undefined>>;

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
  // The compressed bytes are counted too: an endless stream may decompress to nothing.
  const wire = new Transform({ transform: counted(maxBytes, (part) => part) });
  const way: readonly unknown[] = decoders.length === 0 ? [body, whole] : [body, wire, ...decoders, whole];
  await pipeline(way as readonly NodeJS.ReadWriteStream[], { signal });
  return Buffer.concat(parts);
}

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

/**
 * Decodes a body: JSON as a value (integers beyond 2^53 as text with all digits), text as text, an empty body as null, and anything else as `{ media_type, base64 }`.
 * @param lenient whether invalid JSON is returned as text, for example an error page, instead of a failure
 * @throws StepError http_failed
 */
export function parseBody(bytes: Buffer, headers: RawHeaders, mask: Masker, lenient: boolean): unknown {
  if (bytes.length === 0) return null;
  const contentType = joinHeaderValues(headers["content-type"]);
  const mediaType = contentType.split(";")[0]!.trim().toLowerCase();
  if (/^(application|text)\/([^/]+\+)?json$/.test(mediaType)) return json(bytes, mask, lenient);
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];
  if (charset !== undefined || TEXT.test(mediaType)) return decodeText(bytes, charset ?? "utf-8");
  if (mediaType === "") {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      // Not text.
    }
  }
  return { media_type: mediaType || "application/octet-stream", base64: bytes.toString("base64") };
}

const TEXT =
  /^(text\/|application\/(xml|x-www-form-urlencoded|javascript|ecmascript|graphql|x-ndjson|ndjson|jsonl|json-seq|sql|toml|yaml|x-yaml)$|[^/]+\/[^/]+\+(xml|yaml|json-seq)$)/;

function json(bytes: Buffer, mask: Masker, lenient: boolean): unknown {
  // RFC 8259 §8.1: JSON is UTF-8; a byte order mark may be ignored.
  const text = new TextDecoder().decode(bytes);
  try {
    return parseExactJson(text, MAX_JSON_DEPTH);
  } catch (error) {
    if (error instanceof JsonTooDeepError)
      throw new StepError(
        "http_failed",
        `The JSON of the response is nested deeper than ${MAX_JSON_DEPTH} levels.`,
        { transient: false },
      );
    if (lenient) return text;
    if (error instanceof NumberTooLargeError)
      throw new StepError(
        "http_failed",
        `The JSON of the response has a number at ${error.path} that is too large.`,
        {
          fix: "Let the server send it as text.",
          transient: false,
        },
      );
    // Without the cause, because the parser's message quotes the text.
    throw new StepError("http_failed", "The response has a JSON content type, but is not valid JSON.", {
      fix: "Check the URL and what it returns.",
      details: { starts_with: mask.text(text).slice(0, 200) },
      transient: false,
    });
  }
}

/** Decodes text; UTF-8 if the charset is unknown. */
function decodeText(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** The value of a header; repeated headers are joined (RFC 9110 §5.3). */
export const joinHeaderValues = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : (value ?? "");
