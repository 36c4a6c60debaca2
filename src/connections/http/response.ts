/** Reads an answer's body within bounds, and makes of it what its content type says. */
import { pipeline } from "node:stream/promises";
import { type Readable, Transform, Writable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { exceedsDepth, MAX_JSON_DEPTH } from "../../../schemas/text.ts";
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
/** What is asked for. */
export const ACCEPT_ENCODING = "gzip, br";
/** Layers of compression are a bomb's way. */
const MAX_ENCODINGS = 2;

interface ReadOptions {
  /** Of the body as it comes and as it is decompressed; at the first byte more, reading stops. */
  maxBytes: number;
  mask: Masker;
  signal: AbortSignal;
}

/**
 * The whole body, decompressed.
 * @throws StepError output_too_large (how large), http_failed; what the streams throw
 */
export async function readBody(
  body: Readable,
  headers: RawHeaders,
  { maxBytes, mask, signal }: ReadOptions,
): Promise<Buffer> {
  const decoders = decodersOf(headers, body, mask);
  const said = Number(joinHeaderValues(headers["content-length"]));
  if (said > maxBytes) {
    discardBody(body);
    throw tooLarge(`${said} bytes`, maxBytes);
  }
  const parts: Buffer[] = [];
  const whole = new Writable({
    write: counted(maxBytes, (part) => void parts.push(part)),
  });
  // Counted before it is decompressed too: a stream can go on for ever and give nothing.
  const wire = new Transform({ transform: counted(maxBytes, (part) => part) });
  const way: readonly unknown[] = decoders.length === 0 ? [body, whole] : [body, wire, ...decoders, whole];
  await pipeline(way as readonly NodeJS.ReadWriteStream[], { signal });
  return Buffer.concat(parts);
}

/** Handles each part until there are more than `maxBytes` in all. */
function counted(maxBytes: number, handle: (part: Buffer) => Buffer | void) {
  let size = 0;
  return (part: Buffer, _encoding: string, done: (error?: Error | null, out?: Buffer) => void): void => {
    size += part.length;
    if (size > maxBytes) return done(tooLarge(`more than ${maxBytes} bytes`, maxBytes));
    const out = handle(part);
    return out === undefined ? done() : done(null, out);
  };
}

/** Ends an answer whose body nobody wants. */
export function discardBody(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

function decodersOf(headers: RawHeaders, body: Readable, mask: Masker): Transform[] {
  const names = joinHeaderValues(headers["content-encoding"])
    .toLowerCase()
    .split(",")
    .map((it) => it.trim())
    .filter((it) => it !== "" && it !== "identity");
  const unknown = names.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown === undefined && names.length <= MAX_ENCODINGS)
    return names.toReversed().map((name) => DECODERS[name]!());
  discardBody(body);
  const what = unknown === undefined ? `${names.length} layers` : `"${mask.text(unknown).slice(0, 50)}"`;
  throw new StepError("http_failed", `The answer is compressed with ${what}, which can't be read.`, {
    fix: `Set the header Accept-Encoding to what can: ${ACCEPT_ENCODING}, or identity.`,
    transient: false,
  });
}

const tooLarge = (size: string, maxBytes: number): StepError =>
  new StepError("output_too_large", `The answer is ${size}; at most ${maxBytes} are taken.`, {
    fix: "Ask for less (a filter, a page), or raise max_bytes.",
    details: { max_bytes: maxBytes },
  });

/**
 * JSON as a value, text as text, nothing as null, and anything else as `{ media_type, base64 }`.
 * @param lenient whether what claims to be JSON and is not is given as text (an error page), rather than a failure
 * @throws StepError http_failed
 */
export function parseBody(bytes: Buffer, headers: RawHeaders, mask: Masker, lenient: boolean): unknown {
  if (bytes.length === 0) return null;
  const said = joinHeaderValues(headers["content-type"]);
  const mediaType = said.split(";")[0]!.trim().toLowerCase();
  if (/^(application|text)\/([^/]+\+)?json$/.test(mediaType)) return json(bytes, mask, lenient);
  const charset = /;\s*charset="?([^";\s]+)/i.exec(said)?.[1];
  if (charset !== undefined || TEXT.test(mediaType)) return decoded(bytes, charset ?? "utf-8");
  if (mediaType === "") {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      // Not text, then.
    }
  }
  return { media_type: mediaType || "application/octet-stream", base64: bytes.toString("base64") };
}

const TEXT =
  /^(text\/|application\/(xml|x-www-form-urlencoded|javascript|ecmascript|graphql|x-ndjson|ndjson|jsonl|json-seq|sql|toml|yaml|x-yaml)$|[^/]+\/[^/]+\+(xml|yaml|json-seq)$)/;

function json(bytes: Buffer, mask: Masker, lenient: boolean): unknown {
  // RFC 8259 §8.1: always UTF-8; a byte order mark may be ignored.
  const text = new TextDecoder().decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (lenient) return text;
    // No cause: the parser's message quotes the text.
    throw new StepError("http_failed", "The answer says that it is JSON, and is not.", {
      fix: "Look at what the address gives; perhaps it is another than you meant.",
      details: { starts_with: mask.text(text).slice(0, 200) },
      transient: false,
    });
  }
  if (!exceedsDepth(value, MAX_JSON_DEPTH)) return value;
  throw new StepError("http_failed", `The answer's JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`, {
    transient: false,
  });
}

/** Text in a charset; in UTF-8 where nobody knows that one. */
function decoded(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A header's value; several of one name joined as RFC 9110 §5.3 has it. */
export const joinHeaderValues = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(", ") : (value ?? "");
