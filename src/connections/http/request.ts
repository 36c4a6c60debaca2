/** Checks a request of a workflow and encodes it. */
import { charsetParameter } from "../../core/charset.ts";
import type { HttpRequest, PartialIssue } from "../../core/connections.ts";
import { StepError } from "../../core/step-errors.ts";
import { assertWellFormed } from "../../core/well-formed.ts";
import type { HttpRules } from "./rules.ts";
import type { Secrets } from "./secrets.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;

/** Headers of the connection (RFC 9110 §7.6.1), and headers that follow from the URL and the body. */
const RESERVED: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that many servers take for the method. */
const METHOD_OVERRIDES = ["x-http-method-override", "x-http-method", "x-method-override"];

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/;
/** Visible ASCII, space, tab and the upper half of Latin-1: no CR, LF or NUL (RFC 9110 §5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The issue of a header's name, or undefined. */
export function headerNameIssue(name: string): PartialIssue | undefined {
  if (!TOKEN.test(name))
    return {
      code: "wrong_format",
      message: "is not a valid header name",
      fix: "Use letters, digits and -.",
    };
  if (RESERVED.has(name.toLowerCase()))
    return {
      code: "not_allowed",
      message: "cannot be set, because it follows from url and body or belongs to the connection",
      fix: "Remove it.",
    };
  return undefined;
}

/**
 * Returns the headers to send, with names in lower case and with the values of secrets.
 * @throws StepError input_invalid, environment, http_blocked
 */
export function buildHeaders(
  request: HttpRequest,
  url: URL,
  secrets: Secrets,
  rules: HttpRules,
): Record<string, string> {
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [name, value] of Object.entries(request.headers)) {
    const issue = headerNameIssue(name);
    const shown = `The header "${name.slice(0, 100)}"`;
    if (issue !== undefined) throw invalidInputError(`${shown} ${issue.message}.`, issue.fix);
    const key = name.toLowerCase();
    if (headers.has(key)) throw invalidInputError(`${shown} appears twice.`, "Remove one of them.");
    const sent =
      typeof value === "string"
        ? value
        : `${value.prefix ?? ""}${secrets.valueFor(value.secret, { url, method: request.method, header: name, rules })}`;
    if (!VALUE.test(sent)) throw characterError(shown, sent, typeof value !== "string");
    bytes += key.length + sent.length;
    headers.set(key, trimBlanks(sent));
  }
  for (const override of METHOD_OVERRIDES) {
    const method = headers.get(override);
    if (method !== undefined) checkSecrets(request, { url, method: method.toUpperCase() }, secrets, rules);
  }
  if (bytes > MAX_HEADER_BYTES)
    throw invalidInputError(
      `The headers must have at most ${MAX_HEADER_BYTES} bytes, got ${bytes}.`,
      "Send the data in the body.",
    );
  return Object.fromEntries(headers);
}

/** Leaves out spaces and tabs around a value (RFC 9110, section 5.5). A regular expression would take the square of its length. */
function trimBlanks(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value[start]!)) start += 1;
  while (end > start && isBlank(value[end - 1]!)) end -= 1;
  return value.slice(start, end);
}

const isBlank = (character: string): boolean => character === " " || character === "\t";

/** @param isSecret whether no character of the value may be shown */
function characterError(shown: string, value: string, isSecret: boolean): StepError {
  const character = Array.from(value).find((one) => !VALUE.test(one))!;
  const code = character.codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const plain = code < 0x20 || code === 0x7f ? `the control character ${name},` : `"${character}" (${name}),`;
  const found = isSecret ? "a line break or another character," : plain;
  return invalidInputError(
    `${shown} contains ${found} which headers can't carry.`,
    "Send it in the body, or encode it, for example with url_encode(…).",
  );
}

/**
 * Checks that the secrets of a request may be sent with another method or URL, such as those of a redirect.
 * @throws StepError http_blocked
 */
export function checkSecrets(
  { headers }: HttpRequest,
  { method, url }: { method: string; url: URL },
  secrets: Secrets,
  rules: HttpRules,
): void {
  for (const [header, value] of Object.entries(headers))
    if (typeof value !== "string") secrets.valueFor(value.secret, { url, method, header, rules });
}

/**
 * Encodes the body and returns its default content type; undefined for no body. Text is sent in the charset that its content type
 * declares: UTF-8, or Latin-1 if its characters are in it. JSON is sent in UTF-8.
 * @throws StepError input_invalid when it is larger than 4 MiB, or can't be encoded
 */
export function encodeBody({
  body,
  headers,
}: Pick<HttpRequest, "body" | "headers">): { bytes: Buffer; type: string } | undefined {
  if (body === undefined) return undefined;
  const isText = typeof body === "string";
  const bytes = isText ? textBytes(body, headers) : jsonBytes(body, headers);
  if (bytes.length > MAX_BODY_BYTES)
    throw invalidInputError(
      `The body must have at most ${MAX_BODY_BYTES} bytes, got ${bytes.length}.`,
      "Send the data in several requests, with for_each.",
    );
  return { bytes, type: isText ? "text/plain; charset=utf-8" : "application/json" };
}

/** JSON is in UTF-8 (RFC 8259, section 8.1). */
function jsonBytes(body: unknown, headers: HttpRequest["headers"]): Buffer {
  const charset = otherCharset(headers);
  if (charset !== undefined)
    throw invalidInputError(
      `JSON is sent in UTF-8, and Content-Type declares the charset ${charset.slice(0, 50)}.`,
      "Remove the charset from Content-Type, or write the body as text with to_json(…), which is sent in a charset such as iso-8859-1.",
    );
  return Buffer.from(JSON.stringify(body));
}

/** The charset of the Content-Type of a step, if it is not UTF-8; undefined also for none, and for that of a secret. */
function otherCharset(headers: HttpRequest["headers"]): string | undefined {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const charset = typeof type === "string" ? charsetParameter(type)?.toLowerCase() : undefined;
  return charset === "utf-8" || charset === "utf8" ? undefined : charset;
}

function textBytes(body: string, headers: HttpRequest["headers"]): Buffer {
  assertWellFormed("The body", body);
  const charset = otherCharset(headers);
  if (charset === undefined) return Buffer.from(body);
  const others = NOT_IN.get(charset);
  if (others === undefined)
    throw invalidInputError(
      `The body is text, which can't be sent in the charset ${charset.slice(0, 50)}.`,
      "Declare charset=utf-8 in Content-Type, in which it is sent.",
    );
  const other = others.exec(body)?.[0];
  if (other !== undefined)
    throw invalidInputError(
      `The body contains "${other}", which ${charset} does not have.`,
      "Declare charset=utf-8 in Content-Type.",
    );
  return Buffer.from(body, "latin1");
}

/** Charsets besides UTF-8 in which text is sent, each with the characters that it does not have. */
const NOT_IN: ReadonlyMap<string, RegExp> = new Map([
  ["us-ascii", /[^\0-\x7f]/u],
  ["ascii", /[^\0-\x7f]/u],
  ["iso-8859-1", /[^\0-\xff]/u],
  ["latin1", /[^\0-\xff]/u],
]);

export const invalidInputError = (message: string, fix: string | undefined): StepError =>
  new StepError("input_invalid", message, fix === undefined ? {} : { fix });
