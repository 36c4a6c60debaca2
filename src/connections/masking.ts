/**
 * Removes secrets from responses, because a server may echo what it was sent. This is a safety net: an attacker who controls
 * both ends of a connection can encode a secret in a way that nobody expects. The barrier is where a secret may be sent.
 */
import { lazy } from "../core/lazy.ts";
import { readings, type Reading } from "./unescape.ts";

const MASK = "***";
/** Minimum length of a secret, or of a form of it, that is found in spaced text and in encodings, in letters and digits. */
const SHORTEST_FORM = 8;

type JsonObject = Readonly<Record<string, unknown>>;

export interface Masker {
  text(text: string): string;
  /** Masks a JSON value, including its keys and numbers. */
  json(value: unknown): unknown;
  /** Returns what it masks, to make the same masker in a thread. */
  secrets(): readonly string[];
}

/**
 * Creates a masker for `secrets`. It finds them in upper and lower case, with other characters between their letters and
 * digits, reversed, in letters of full width, as base64 at any offset, base64url and hex, in UTF-16, as a list of characters, and escaped for URLs, HTML, JSON, shells and
 * quoted-printable text, also twice. A secret with fewer than eight letters and digits is found as it is, and escaped.
 * The work is linear in the length of a text, whatever the number of secrets. Mask text before you cut it, because half a
 * secret is not found.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const given = [...new Set(secrets)].filter((secret) => secret !== "");
  if (given.length === 0) return { text: (text) => text, json: (value) => value, secrets: () => [] };
  const long = given.filter(isLong);
  const spaced = [...new Set(long.flatMap(formsOf))].filter((form) => form.length >= SHORTEST_FORM);
  const short = given.filter((secret) => !long.includes(secret));
  const exact = [...short, ...short.map(latin1Of)];
  const codes = characterCodes();
  const finders = [finder(spaced, codes.condensed), finder([...new Set(exact.map(lowerCase))], codes.lower)];
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
    if (Array.isArray(value)) return maskedList(value);
    return typeof value === "object" && value !== null ? maskedObject(value as JsonObject) : value;
  };
  /** Most values contain no secret, so they are copied only where one was found. */
  const maskedList = (list: readonly unknown[]): readonly unknown[] => {
    if (list.length >= shortest && list.every(isCharacter)) {
      const joined = list.join("");
      if (text(joined) !== joined) return [MASK];
    }
    let copy: unknown[] | undefined;
    for (const [index, item] of list.entries()) {
      const masked = json(item);
      if (masked !== item) (copy ??= [...list])[index] = masked;
    }
    return copy ?? list;
  };
  const maskedObject = (object: JsonObject): JsonObject => {
    let isChanged = false;
    const entries = Object.entries(object).map(([key, inner]) => {
      const entry = [text(key), json(inner)] as const;
      isChanged ||= entry[0] !== key || entry[1] !== inner;
      return entry;
    });
    return isChanged ? Object.fromEntries(entries) : object;
  };
  return { text, json, secrets: () => given };
}

const isCharacter = (value: unknown): boolean => typeof value === "string" && value.length <= 2;

const isLong = (secret: string): boolean => condensed(secret).length >= SHORTEST_FORM;

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
  // Without its last byte, text in ASCII has the same bytes in both byte orders.
  const wide = Buffer.from(secret, "utf16le").subarray(0, -1);
  const plain = [secret, latin1Of(secret)].map(condensed);
  const bytes = [Buffer.from(secret), Buffer.from(encodeURIComponent(secret.toWellFormed())), wide];
  return [
    ...plain,
    ...plain.map((form) => form.split("").toReversed().join("")),
    ...bytes.flatMap(base64Pieces).map(condensed),
    ...bytes.map((of) => of.toString("hex")),
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
 * @param codeOf the code of each character; those with the code 0 are skipped
 */
function finder(forms: readonly string[], codeOf: Uint16Array): (reading: Reading, spans: Span[]) => void {
  const codes = forms.map((form) => Array.from(form, (_, index) => form.charCodeAt(index)));
  const short = codes.filter(({ length }) => length < HASHED);
  const byHash = Map.groupBy(
    codes.filter(({ length }) => length >= HASHED),
    (form) => form.slice(0, HASHED).reduce(nextHash, 0),
  );
  const isBeginning = new Uint8Array(HASH_MASK + 1);
  for (const hash of byHash.keys()) isBeginning[hash] = 1;

  return ({ text, startOf }, spans) => {
    if (forms.length === 0) return;
    const findAt = (start: number, candidates: readonly (readonly number[])[]): void => {
      for (const form of candidates) {
        const end = endOfMatch(text, start, form, codeOf);
        if (end !== undefined) spans.push([startOf(start), startOf(end)]);
      }
    };
    /** The positions of the last characters, by their number modulo 4. */
    const positions = [0, 0, 0, 0];
    let hash = 0;
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = codeOf[text.charCodeAt(at)]!;
      if (code === 0) continue;
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
  codeOf: Uint16Array,
): number | undefined {
  let matched = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = codeOf[text.charCodeAt(at)]!;
    if (code === 0) continue;
    if (code !== form[matched]) return undefined;
    matched += 1;
    if (matched === form.length) return at + 1;
  }
  return undefined;
}

interface CharacterCodes {
  /** The code of each character in lower case, where that is one character. */
  lower: Uint16Array;
  /** The same; 0 for separators. */
  condensed: Uint16Array;
}

/** What separates letters and digits: all other characters, and letters that are not visible. Halves of a pair are among them. */
const SEPARATOR = /[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/u;

/** Computed with the first secret: many processes have none. */
const characterCodes = lazy((): CharacterCodes => {
  const lower = Uint16Array.from({ length: 0x1_00_00 }, (_, code) => {
    // Letters of full width are read as those of ASCII.
    const text = String.fromCharCode(code).normalize("NFKC").toLowerCase();
    return text.length === 1 ? text.charCodeAt(0) : code;
  });
  const condensed = lower.map((of, code) => (SEPARATOR.test(String.fromCharCode(code)) ? 0 : of));
  return { lower, condensed };
});

const lowerCase = (text: string): string => fromCodes(text, characterCodes().lower);

const condensed = (text: string): string => fromCodes(text, characterCodes().condensed);

const fromCodes = (text: string, codes: Uint16Array): string =>
  String.fromCharCode(
    ...Array.from({ length: text.length }, (_, index) => codes[text.charCodeAt(index)]!).filter(
      (code) => code !== 0,
    ),
  );
