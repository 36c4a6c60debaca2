/** Decodes the text of a response. No byte is lost silently: what is not text in its charset is an error. */
import {
  charsetIssue,
  charsetOfMark,
  charsetParameter,
  decodeStrictly,
  encodingOf,
  invalidOffset,
} from "../../core/charset.ts";
import { StepError } from "../../core/step-errors.ts";

interface TextOptions {
  /** The value of the Content-Type header. */
  contentType: string;
  /** The charset that the step sets. */
  charset: string | undefined;
}

/** Where a charset was found, for messages. */
interface Source {
  label: string;
  clause: string;
}

/** The beginning of a text that can declare its charset, in bytes. */
const PROLOGUE_BYTES = 1_024;
const XML_DECLARATION = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/;
const META_CHARSET = /<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i;

/**
 * Decodes a text in, the first that there is: the encoding of its byte order mark; the charset of the step; that of the content type;
 * that of the XML declaration or of the HTML; UTF-8.
 * @throws StepError http_failed for an unknown charset, and for bytes that are not valid
 */
export function decodeText(bytes: Uint8Array, options: TextOptions): string {
  return decodeFrom(bytes, markOf(bytes) ?? declared(options) ?? written(bytes, options.contentType));
}

/**
 * Decodes JSON, which is UTF-8 (RFC 8259, section 8.1). Some servers send another charset, and more declare one that they don't send, so
 * it counts only for what is not UTF-8, or can be confused with it.
 * @throws StepError http_failed
 */
export function decodeJsonText(bytes: Uint8Array, options: TextOptions): string {
  const source = markOf(bytes) ?? declared(options);
  const isExact = options.charset !== undefined || markOf(bytes) !== undefined;
  const encoding = source === undefined ? undefined : encodingOf(source.label);
  if (isExact || (encoding !== undefined && /^(?:utf-16|iso-2022)/.test(encoding)))
    return decodeFrom(bytes, source);
  return decodeStrictly(bytes, "utf-8") ?? decodeFrom(bytes, source);
}

/** Decodes what is only shown, such as an error page: bytes that are not valid become U+FFFD. */
export function decodeForDisplay(bytes: Uint8Array, options: TextOptions): string {
  const label = (markOf(bytes) ?? declared(options) ?? written(bytes, options.contentType))?.label ?? "utf-8";
  // Of a text that is cut, an incomplete character at the end is left out.
  return new TextDecoder(encodingOf(label) ?? "utf-8").decode(bytes, { stream: true });
}

function markOf(bytes: Uint8Array): Source | undefined {
  const mark = charsetOfMark(bytes);
  return mark === undefined
    ? undefined
    : { label: mark, clause: `begins with the byte order mark of ${mark}` };
}

function declared({ contentType, charset }: TextOptions): Source | undefined {
  if (charset !== undefined)
    return { label: charset, clause: `is read in the charset of the step, ${charset}` };
  const label = charsetParameter(contentType)?.slice(0, 50);
  return label === undefined ? undefined : { label, clause: `declares the charset ${label}` };
}

/** The charset that an XML or HTML text declares in its first bytes. */
function written(bytes: Uint8Array, contentType: string): Source | undefined {
  const pattern = /\bhtml\b/i.test(contentType)
    ? META_CHARSET
    : /\bxml\b/i.test(contentType)
      ? XML_DECLARATION
      : undefined;
  const start = Buffer.from(bytes.subarray(0, PROLOGUE_BYTES)).toString("latin1");
  const found = pattern?.exec(start)?.[1];
  if (found === undefined) return undefined;
  // A declaration that could be read byte by byte is not in UTF-16.
  const label = /^utf-?16/i.test(found) ? "utf-8" : found.slice(0, 50);
  return { label, clause: `declares the charset ${label} in its text` };
}

function decodeFrom(bytes: Uint8Array, source: Source | undefined): string {
  const { label, clause } = source ?? { label: "utf-8", clause: "declares no charset" };
  if (encodingOf(label) === undefined)
    throw undecodable(`The response ${clause}, which is unknown here.`, charsetIssue(label)!.did_you_mean);
  const text = decodeStrictly(bytes, label);
  if (text !== undefined) return text;
  const offset = invalidOffset(bytes, label);
  const found =
    offset < bytes.length
      ? `has 0x${bytes[offset]!.toString(16).padStart(2, "0")} at byte ${offset}`
      : "ends inside a character";
  const claim = source === undefined ? "is not UTF-8" : `is not valid ${label}`;
  throw undecodable(`The response ${clause} and ${claim}: it ${found}.`);
}

const undecodable = (message: string, near = "windows-1252"): StepError =>
  new StepError("http_failed", message, {
    fix: `Set charset to the one that the server uses, such as ${near}, or parse: base64 to get the bytes.`,
    transient: false,
  });
