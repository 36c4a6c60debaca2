/** Reads the bytes of a response as a value: by its content type, or as the step says. */
import { MAX_JSON_DEPTH } from "../../../schemas/text.ts";
import { charsetParameter } from "../../core/charset.ts";
import type { BodyFormat } from "../../core/connections.ts";
import { type CsvOptions, parseCsv } from "../../core/csv.ts";
import { joinHeaderValues } from "../../core/header-text.ts";
import { JsonLossError, JsonTooDeepError, parseExactJson } from "../../core/json-text.ts";
import { StepError } from "../../core/step-errors.ts";
import type { Masker } from "../masking.ts";
import type { RawHeaders } from "./response-headers.ts";
import { decodeForDisplay, decodeJsonText, decodeText } from "./response-text.ts";

/**
 * The purpose of a body. `data`: a body that is not as declared fails. `page`: of a status outside 2xx that the step accepts, which often is
 * another kind of document; it is read by its content type, as text or bytes if it is not as declared. `display`: of a failure.
 */
export type ReadFor = "data" | "page" | "display";

export interface ParseOptions {
  format: BodyFormat;
  readFor: ReadFor;
}

/** Maximum length of the beginning of a body in an error, in characters. */
const MAX_START_CHARS = 200;

/** Words of subtypes that are text. */
const TEXT_WORDS: ReadonlySet<string> = new Set(
  (
    "csv ecmascript graphql javascript json jsonl jsonlines ndjson sql toml tsv " +
    "x-www-form-urlencoded xml yaml yml"
  ).split(" "),
);
const PACKED = /[-+.](?:gzip|zip|zlib|zstd|br|bz2|xz|fastinfoset)$/;
const BINARY = /^(?:image|audio|video|font)\//;

/**
 * Reads a body: JSON as a value (long numbers as text with all digits), text as text, an empty body as null, and anything else as
 * `{ media_type, base64 }`.
 * @throws StepError http_failed
 */
export function parseBody(bytes: Buffer, headers: RawHeaders, mask: Masker, options: ParseOptions): unknown {
  const { format, readFor } = options;
  const contentType = joinHeaderValues(headers["content-type"]);
  const mediaType = contentType.split(/[;,]/)[0]!.trim().toLowerCase();
  const parse = readFor === "data" ? format.parse : undefined;
  const encoded = (): object => ({
    media_type: mediaType || "application/octet-stream",
    base64: bytes.toString("base64"),
  });
  const text = { contentType, charset: format.charset };
  if (parse === "base64") return encoded();
  if (parse === "csv") return readCsv(decodeText(bytes, text), mask, { csv: format.csv, mediaType });
  if (bytes.length === 0) return parse === "text" ? "" : null;
  if (parse === "json" || (parse === undefined && isJson(mediaType)))
    return readJson(bytes, text, mask, { readFor, mediaType });
  if (parse !== undefined) return decodeText(bytes, text);
  const isText = isTextType(mediaType);
  const isDeclared = format.charset !== undefined;
  const mayBeText =
    mediaType === "" || (charsetParameter(contentType) !== undefined && !BINARY.test(mediaType));
  if (!isText && !isDeclared && !mayBeText) return encoded();
  if (readFor === "display") return decodeForDisplay(bytes, text);
  try {
    return decodeText(bytes, text);
  } catch (error) {
    if (readFor === "data" && (isText || isDeclared)) throw error;
    return encoded();
  }
}

const isTextType = (mediaType: string): boolean =>
  !PACKED.test(mediaType) &&
  (mediaType.startsWith("text/") || wordsOf(mediaType).some((word) => TEXT_WORDS.has(word)));

/** The words of a subtype, without versions: `x-amz-json-1.1` has x, amz and json. */
const wordsOf = (mediaType: string): string[] => {
  const subtype = mediaType.slice(mediaType.indexOf("/") + 1);
  if (TEXT_WORDS.has(subtype)) return [subtype];
  return subtype.split(/[-+.]/).filter((word) => !/^v?\d*$/.test(word));
};

/** Whether the last word of a subtype is json: `json`, `problem+json`, `x-amz-json-1.1`, but not `json-seq`, which is a sequence. */
const isJson = (mediaType: string): boolean => wordsOf(mediaType).at(-1) === "json";

function readJson(
  bytes: Buffer,
  text: { contentType: string; charset: string | undefined },
  mask: Masker,
  { readFor, mediaType }: { readFor: ReadFor; mediaType: string },
): unknown {
  const isData = readFor === "data";
  let source: string;
  try {
    source = decodeJsonText(bytes, text);
  } catch (error) {
    if (isData) throw error;
    return readFor === "display"
      ? decodeForDisplay(bytes, text)
      : { media_type: mediaType, base64: bytes.toString("base64") };
  }
  try {
    return parseExactJson(source, MAX_JSON_DEPTH);
  } catch (error) {
    if (!isData) return source;
    throw jsonError(error, mask, { source, mediaType });
  }
}

function jsonError(
  error: unknown,
  mask: Masker,
  { source, mediaType }: { source: string; mediaType: string },
): StepError {
  if (error instanceof JsonTooDeepError)
    return new StepError(
      "http_failed",
      `The JSON of the response is nested deeper than ${MAX_JSON_DEPTH} levels.`,
      { transient: false },
    );
  if (error instanceof JsonLossError)
    return error.kind === "duplicate_key"
      ? new StepError(
          "http_failed",
          `The JSON of the response has the key ${mask.text(error.path)} twice in the same object, so one of the values would be lost.`,
          { fix: "Let the server send each key once, or set parse: text.", transient: false },
        )
      : new StepError(
          "http_failed",
          `The JSON of the response has a number at ${error.path} that is too large.`,
          { fix: "Let the server send it as text, or set parse: text.", transient: false },
        );
  // Without the cause, because the parser's message quotes the text.
  const typed = isJson(mediaType) ? "has a JSON content type, but" : `has ${typeClause(mediaType)} and`;
  return new StepError("http_failed", `The response ${typed} is not valid JSON.`, {
    fix: "Check the URL and what it returns. To read it nevertheless, set parse: text.",
    details: startOf(source, mediaType, mask),
    transient: false,
  });
}

/** @throws StepError http_failed */
function readCsv(
  source: string,
  mask: Masker,
  { csv, mediaType }: { csv: CsvOptions | undefined; mediaType: string },
): unknown[] {
  // Masked as a whole, because a secret may have separators in it.
  const result = parseCsv(mask.text(source), csv);
  if ("rows" in result) return result.rows;
  const { message, fix, line } = result.issue;
  throw new StepError(
    "http_failed",
    `The response has ${typeClause(mediaType)} and can't be read as CSV: ${message}.`,
    {
      fix,
      details: { line, ...startOf(source, mediaType, mask) },
      transient: false,
    },
  );
}

const typeClause = (mediaType: string): string =>
  mediaType === "" ? "no content type" : `the content type ${mediaType.slice(0, 100)}`;

/** The kind and the beginning of a body, for the details of an error. */
const startOf = (source: string, mediaType: string, mask: Masker): Record<string, unknown> => ({
  content_type: mediaType === "" ? null : mask.text(mediaType).slice(0, 100),
  starts_with: mask.text(source).slice(0, MAX_START_CHARS).toWellFormed(),
});
