/** Functions on strings. Lengths and positions count characters (code points), as in CEL. */
import {
  charsetIssue,
  decodeStrictly,
  encodingOf,
  charsetOfMark,
  invalidOffset,
} from "../../../core/charset.ts";
import { JsonLossError, JsonTooDeepError, parseExactJson } from "../../../core/json-text.ts";
import { HALF_PAIR } from "../../../core/well-formed.ts";
import { charge, chargeText, limitList } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";
import { secondsText } from "./exact-times.ts";
import { throwFailed, throwNullValue, truncate } from "./failures.ts";
import { csv, csvOptions } from "./csv.ts";
import { MAX_EXPRESSION_VALUE_DEPTH } from "./limits.ts";
import { STRING } from "../../../core/shapes.ts";
import type { CelFunction, FunctionBody, Param } from "./functions.ts";
import * as is from "./params.ts";
import { compileCost, compilePattern, matches } from "./patterns.ts";
import { boundedIncludes, boundedIndexOf, splitText } from "./text-search.ts";
import { equals, jsonText, kindOf, Duration, formatAsText, describeKind } from "./values.ts";

/** Defines a function whose result is not longer than its arguments. */
const onText = (
  usage: string,
  params: number,
  compute: (value: string, other: string) => string | boolean,
): CelFunction => ({
  usage,
  params: Array.from({ length: params }, () => is.text),
  result: params === 1 ? is.returnsText : is.returnsBoolean,
  call: (args, { evaluation }) => {
    chargeText(evaluation, (args[0] as string).length, 1 / 2);
    return compute(args[0] as string, args[1] as string);
  },
});

const hasSurrogates = (value: string): boolean => /[\uD800-\uDFFF]/.test(value);

/** Counts the characters of a string. */
export function countCharacters(evaluation: Evaluation, value: string): number {
  chargeText(evaluation, value.length);
  if (!hasSurrogates(value)) return value.length;
  charge(evaluation, value.length);
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

const substring: FunctionBody = ([value, from, to], { evaluation, location }) => {
  const source = value as string;
  const length = countCharacters(evaluation, source);
  const [start, end] = [from as number, (to ?? length) as number];
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end < start || end > length) {
    throwFailed(location, `reads characters ${start} to ${end} of a text that has ${length}`);
  }
  if (length === source.length) return source.slice(start, end);
  charge(evaluation, 2 * source.length);
  const first = offsetAfter(source, 0, start);
  return source.slice(first, offsetAfter(source, first, end - start));
};

/** The offset that is a number of characters after another one, in UTF-16 units. */
function offsetAfter(text: string, from: number, characters: number): number {
  let at = from;
  for (let left = characters; left > 0; left -= 1) at += text.codePointAt(at)! > 0xff_ff ? 2 : 1;
  return at;
}

const replace: FunctionBody = ([value, search, by], { evaluation }) => {
  const [source, from, to] = [value as string, search as string, by as string];
  if (from === "") {
    chargeText(evaluation, source.length + (source.length + 1) * to.length);
    charge(evaluation, 2 * source.length);
    return source.replaceAll(from, () => to);
  }
  const parts = splitText(evaluation, source, from);
  chargeText(evaluation, source.length + (parts.length - 1) * (to.length - from.length));
  return parts.join(to);
};

const split: FunctionBody = ([value, separator], { evaluation }) => {
  const source = value as string;
  if (separator !== "") return splitText(evaluation, source, separator as string);
  chargeText(evaluation, source.length);
  limitList(evaluation, countCharacters(evaluation, source));
  charge(evaluation, source.length);
  return Array.from(source);
};

const join: FunctionBody = ([items, separator = ""], { evaluation }) => {
  charge(evaluation, (items as unknown[]).length);
  const texts = (items as unknown[]).map((item) => formatAsText(evaluation, item));
  const between = (separator as string).length;
  chargeText(
    evaluation,
    texts.reduce((length, text) => length + text.length + between, 0),
  );
  return texts.join(separator as string);
};

const contains: FunctionBody = ([container, part], { evaluation, location, argumentSource }) => {
  if (Array.isArray(container))
    return container.some((item) => (charge(evaluation, 2), equals(evaluation, item, part)));
  if (part === null || part === undefined) return throwNullValue(location, argumentSource(1));
  if (typeof part !== "string")
    return throwFailed(location, `searches text for ${describeKind(kindOf(part))}, expected text`);
  return boundedIncludes(evaluation, container as string, part);
};

const indexOf: FunctionBody = ([value, search], { evaluation }) => {
  const source = value as string;
  const found = boundedIndexOf(evaluation, source, search as string);
  return found < 0 ? found : countCharacters(evaluation, source.slice(0, found));
};

const matchesBody: FunctionBody = ([value, source], { evaluation, location }) => {
  let pattern = evaluation.patterns.get(source as string);
  if (pattern === undefined) {
    // Compiling is work, even if it fails.
    charge(evaluation, compileCost(source as string));
    try {
      pattern = compilePattern(source as string);
    } catch (error) {
      return throwFailed(location, `uses a regular expression that RE2 rejects: ${(error as Error).message}`);
    }
    evaluation.patterns.set(source as string, pattern);
  }
  return matches(evaluation, pattern, value as string);
};

const toString: FunctionBody = ([value], { evaluation }) => {
  if (value instanceof Duration) return `${secondsText(value)}s`;
  return formatAsText(evaluation, value);
};

/** Work of parsing a character of JSON: short ones may be an object each. */
const PARSE_COST = 2;

const parseJson: FunctionBody = ([value], { evaluation, location }) => {
  chargeText(evaluation, (value as string).length, PARSE_COST);
  try {
    return parseExactJson(value as string, MAX_EXPRESSION_VALUE_DEPTH);
  } catch (error) {
    return throwFailed(location, `parses text that ${reasonOf(error)}`);
  }
};

function reasonOf(error: unknown): string {
  if (error instanceof JsonLossError)
    return error.kind === "duplicate_key"
      ? `has a key twice in the same object (at character ${error.offset + 1}), so one of the values would be lost`
      : "has a number that is too large";
  return error instanceof JsonTooDeepError
    ? `is nested deeper than ${MAX_EXPRESSION_VALUE_DEPTH} levels`
    : "is not JSON";
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Work of replacing one character. */
const ENTITY_COST = 10;

/** The result may be several times as long as the text, so it is charged before it is made. */
const escapeHtml: FunctionBody = ([value], { evaluation }) => {
  const source = value as string;
  chargeText(evaluation, source.length, 1 / 2);
  let count = 0;
  let added = 0;
  for (let at = 0; at < source.length; at += 1) {
    const entity = HTML_ENTITIES[source[at]!];
    if (entity === undefined) continue;
    count += 1;
    added += entity.length - 1;
  }
  if (count === 0) return source;
  charge(evaluation, ENTITY_COST * count);
  chargeText(evaluation, source.length + added);
  return source.replaceAll(/[&<>"']/g, (letter) => HTML_ENTITIES[letter]!);
};

/** Encodes a text as one part of a URL. @param source without halves of surrogate pairs */
export function encodeForUrl(evaluation: Evaluation, source: string): string {
  chargeText(evaluation, 3 * source.length);
  const encoded = encodeURIComponent(source);
  chargeText(evaluation, encoded.length);
  return encoded;
}

const urlEncode: FunctionBody = ([value], { evaluation, location }) => {
  const text = formatAsText(evaluation, value);
  if (!text.isWellFormed())
    throwFailed(location, `encodes ${HALF_PAIR}`, {
      fix: "Remove it.",
    });
  return encodeForUrl(evaluation, text);
};

/** Work of decoding one character: that of an older charset is looked up in a table. */
const DECODE_COST = 2;
/** Work of finding the first byte that is not valid, for each character. */
const FIND_COST = 10;
/** Base64, also with the alphabet for URLs, with or without padding, in lines or not. */
const BASE64 = /^[\w+/-]*={0,2}$/;

const decode: FunctionBody = ([value, charset = "utf-8"], { evaluation, location }) => {
  const source = value as string;
  chargeText(evaluation, source.length, DECODE_COST);
  const compact = source.replaceAll(/[\r\n]/g, "");
  if (!BASE64.test(compact) || compact.replace(/=+$/, "").length % 4 === 1)
    return throwFailed(location, "decodes text that is not base64", {
      fix: "Pass the base64 of the bytes, such as body.base64 of an http step.",
    });
  const bytes = Buffer.from(compact, "base64");
  const used = charsetOfMark(bytes) ?? (charset as string);
  const text = decodeStrictly(bytes, used);
  if (text !== undefined) return text;
  const fix = "Name the charset of the bytes, such as windows-1252.";
  if (encodingOf(used) === undefined)
    return throwFailed(location, `decodes bytes in the unknown charset ${truncate(used)}`, { fix });
  charge(evaluation, FIND_COST * source.length);
  const offset = invalidOffset(bytes, used);
  return throwFailed(location, `decodes bytes that are not valid ${used}, at byte ${offset}`, { fix });
};

const charsetParam: Param = {
  kinds: ["string"],
  literalIssue: (value) => charsetIssue(value as string),
};

/** A value that is written into a URL. */
const urlPart: Param = { kinds: ["string", "number", "boolean"] };

export const TEXT_FUNCTIONS: Readonly<Record<string, CelFunction>> = {
  escape_html: {
    usage: "escape_html(text)",
    params: [is.text],
    result: is.returnsText,
    call: escapeHtml,
  },
  url_encode: {
    usage: "url_encode(text)",
    params: [urlPart],
    result: is.returnsText,
    call: urlEncode,
  },
  raw: {
    usage: "raw(text), in a url: the text is part of the URL as it is, not encoded",
    params: [urlPart],
    result: is.returnsText,
    call: ([value], { evaluation }) => formatAsText(evaluation, value),
  },
  parse_csv: {
    usage: "parse_csv(text) or parse_csv(text, {'header': false, 'separator': ';', 'ragged': 'pad'})",
    params: [is.text, csvOptions],
    optional: 1,
    result: ([, options]) =>
      options === undefined
        ? { kind: "list", of: { kind: "map", of: STRING } }
        : { kind: "list", of: { kind: "any" } },
    call: csv,
  },
  decode: {
    usage: "decode(base64) or decode(base64, 'windows-1252')",
    params: [is.text, charsetParam],
    optional: 1,
    result: is.returnsText,
    call: decode,
  },
  lower: onText("text.lower()", 1, (value) => value.toLowerCase()),
  upper: onText("text.upper()", 1, (value) => value.toUpperCase()),
  trim: onText("text.trim()", 1, (value) => value.trim()),
  startsWith: onText("text.startsWith(start)", 2, (value, start) => value.startsWith(start)),
  endsWith: onText("text.endsWith(end)", 2, (value, end) => value.endsWith(end)),
  contains: {
    usage: "text.contains(part) or list.contains(item)",
    params: [{ kinds: ["string", "list"] }, { besideText: ["string"] }],
    result: is.returnsBoolean,
    call: contains,
  },
  indexOf: {
    usage: "text.indexOf(part)",
    params: [is.text, is.text],
    result: is.returnsNumber,
    call: indexOf,
  },
  substring: {
    usage: "text.substring(from) or text.substring(from, to)",
    params: [is.text, is.number, is.number],
    optional: 1,
    result: is.returnsText,
    call: substring,
  },
  replace: {
    usage: "text.replace(part, by)",
    params: [is.text, is.text, is.text],
    result: is.returnsText,
    call: replace,
  },
  split: {
    usage: "text.split(separator)",
    params: [is.text, is.text],
    result: is.returnsTextList,
    call: split,
  },
  join: {
    usage: 'list.join() or list.join(", ")',
    params: [is.list, is.text],
    optional: 1,
    result: is.returnsText,
    call: join,
  },
  matches: {
    usage: "text.matches(pattern)",
    params: [is.text, is.text],
    result: is.returnsBoolean,
    call: matchesBody,
    prepare: ([, source]) => {
      if (typeof source !== "string") return undefined;
      try {
        const pattern = compilePattern(source);
        return ([value], { evaluation }) => matches(evaluation, pattern, value as string);
      } catch (error) {
        const message = `uses a regular expression that RE2 rejects: ${(error as Error).message}`;
        return { code: "bad_regex", message };
      }
    },
  },
  string: {
    usage: "string(value)",
    params: [{ kinds: ["string", "number", "boolean", "list", "map", "timestamp", "duration"] }],
    result: is.returnsText,
    call: toString,
  },
  to_json: {
    usage: "to_json(value)",
    params: [is.anything],
    result: is.returnsText,
    call: ([value], { evaluation }) => jsonText(evaluation, value),
  },
  parse_json: { usage: "parse_json(text)", params: [is.text], result: is.returnsAny, call: parseJson },
};
