/**
 * Removes secrets from responses, because a server may echo what it was sent. This is a safety net: whoever controls both
 * ends of a connection can encode a secret in a way that nobody expects. The barrier is where a secret may be sent.
 */
import { readings, type Reading } from "./unescape.ts";

const MASK = "***";
/** Minimum length of a secret, or of a form of it, that is found in spaced text and in encodings, in letters and digits. */
const SHORTEST_FORM = 8;

export interface Masker {
  text(text: string): string;
  /** Masks a JSON value, including its keys and numbers. */
  json(value: unknown): unknown;
}

/**
 * Creates a masker for `secrets`. It finds them in upper and lower case, with other characters between their letters and
 * digits, reversed, as base64 at any offset, base64url and hex, in UTF-16, and escaped for URLs, HTML, JSON and
 * quoted-printable text, also twice. A secret with fewer than eight letters and digits is found as it is, and escaped.
 * The work is linear in the length of a text, whatever the number of secrets. Mask text before you cut it, because half a
 * secret is not found.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const given = [...new Set(secrets)].filter((secret) => secret !== "");
  if (given.length === 0) return { text: (text) => text, json: (value) => value };
  const isLong = (secret: string): boolean => condensed(secret).length >= SHORTEST_FORM;
  const spaced = [...new Set(given.filter(isLong).flatMap(formsOf))].filter(
    (form) => form.length >= SHORTEST_FORM,
  );
  const exact = given.filter((secret) => !isLong(secret)).flatMap((secret) => [secret, latin1Of(secret)]);
  const finders = [finder(spaced, true), finder([...new Set(exact.map(lowerCase))], false)];
  const shortest = Math.min(...spaced.map(({ length }) => length), ...exact.map(({ length }) => length));

  const text = (value: string): string => {
    // No reading is longer than the text.
    if (value.length < shortest) return value;
    const spans: Span[] = [];
    for (const reading of readings(value)) for (const find of finders) find(reading, spans);
    return spans.length === 0 ? value : withoutSpans(value, spans);
  };
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(String(value)) === String(value) ? value : MASK;
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [text(key), json(inner)]));
  };
  return { text, json };
}

/** Start and end of a secret in a text. */
type Span = readonly [start: number, end: number];

function withoutSpans(text: string, spans: readonly Span[]): string {
  let masked = "";
  let end = 0;
  for (const [start, stop] of spans.toSorted((a, b) => a[0] - b[0])) {
    if (start >= end) masked += text.slice(end, start) + MASK;
    end = Math.max(end, stop);
  }
  return masked + text.slice(end);
}

/** The forms of a secret that are found, in lower case and without other characters than letters and digits. */
function formsOf(secret: string): string[] {
  const wide = Buffer.from(secret, "utf16le");
  const plain = [secret, latin1Of(secret)].map(condensed);
  const bytes = [secret, encodeURIComponent(secret.toWellFormed())].map((text) => Buffer.from(text));
  return [
    ...plain,
    ...plain.map((form) => [...form].toReversed().join("")),
    ...[...bytes, wide].flatMap((of) => [...base64Pieces(of).map(condensed), of.toString("hex")]),
  ];
}

/** A text whose UTF-8 bytes are read as one character each. */
const latin1Of = (text: string): string => Buffer.from(text).toString("latin1");

/** The parts of a secret's base64 that do not depend on the text around it, for each of the three offsets. */
const base64Pieces = (bytes: Buffer): string[] =>
  [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    return padded.toString("base64").slice(Math.ceil((offset * 8) / 6), Math.floor((padded.length * 8) / 6));
  });

/** Characters that are hashed to find the beginning of a form: each adds 4 bits to a hash of 16. */
const HASHED = 4;
const HASH_MASK = 0xff_ff;

/**
 * Makes a function that finds forms in a reading of a text. One pass compares a hash of the last four characters with those
 * of the forms' beginnings (Karp and Rabin, "Efficient randomized pattern-matching algorithms", 1987).
 * @param skips whether characters other than letters and digits are skipped
 */
function finder(forms: readonly string[], skips: boolean): (reading: Reading, spans: Span[]) => void {
  const codes = forms.map((form) => Array.from(form, (_, index) => form.charCodeAt(index)));
  const short = codes.filter(({ length }) => length < HASHED);
  const byHash = Map.groupBy(
    codes.filter(({ length }) => length >= HASHED),
    (form) => form.slice(0, HASHED).reduce(nextHash, 0),
  );
  const isBeginning = new Uint8Array(HASH_MASK + 1);
  for (const hash of byHash.keys()) isBeginning[hash] = 1;

  const codeOf = skips ? CONDENSED : LOWER;

  return ({ text, startOf }, spans) => {
    if (forms.length === 0) return;
    const findAt = (start: number, candidates: readonly (readonly number[])[]): void => {
      for (const form of candidates) {
        const end = endOfMatch(text, start, form, skips);
        if (end !== undefined) spans.push([startOf(start), startOf(end)]);
      }
    };
    /** The positions of the last characters, by their number modulo 4. */
    const positions = [0, 0, 0, 0];
    let hash = 0;
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = codeOf[text.charCodeAt(at)]!;
      if (skips && code === 0) continue;
      hash = nextHash(hash, code);
      positions[count % HASHED] = at;
      count += 1;
      if (short.length > 0) findAt(at, short);
      if (count >= HASHED && isBeginning[hash] === 1) findAt(positions[count % HASHED]!, byHash.get(hash)!);
    }
  };
}

const nextHash = (hash: number, code: number): number => ((hash << 4) ^ code) & HASH_MASK;

/** @returns the end of the form in the text; undefined if the text has something else there */
function endOfMatch(
  text: string,
  start: number,
  form: readonly number[],
  skips: boolean,
): number | undefined {
  const codeOf = skips ? CONDENSED : LOWER;
  let matched = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = codeOf[text.charCodeAt(at)]!;
    if (skips && code === 0) continue;
    if (code !== form[matched]) return undefined;
    matched += 1;
    if (matched === form.length) return at + 1;
  }
  return undefined;
}

/** The code of each character in lower case, where that is one character. */
const LOWER = Uint16Array.from({ length: 0x1_00_00 }, (_, code) => {
  const lower = String.fromCharCode(code).toLowerCase();
  return lower.length === 1 ? lower.charCodeAt(0) : code;
});

/** What separates letters and digits: other characters of ASCII, spaces, controls and marks without width. */
const SEPARATOR = /[^\P{ASCII}a-z0-9]|[\p{Z}\p{Cc}\p{Cf}]/iu;

/** The same; 0 for separators. */
const CONDENSED = LOWER.map((lower, code) => (SEPARATOR.test(String.fromCharCode(code)) ? 0 : lower));

const lowerCase = (text: string): string =>
  String.fromCharCode(...Array.from({ length: text.length }, (_, index) => LOWER[text.charCodeAt(index)]!));

const condensed = (text: string): string =>
  String.fromCharCode(
    ...Array.from({ length: text.length }, (_, index) => CONDENSED[text.charCodeAt(index)]!).filter(
      (code) => code !== 0,
    ),
  );
