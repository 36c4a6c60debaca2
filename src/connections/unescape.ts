/** Reads a text as what it may be escaped from, and keeps where each character of a reading comes from. */

export interface Reading {
  text: string;
  /** The position in the original text at which the character at a position of this reading begins. */
  startOf(position: number): number;
}

/** How often a text may be escaped. */
const MAX_LEVELS = 2;
/** Escapes of URLs, HTML (whose numbers need no semicolon), JSON or JavaScript, and shells. */
const ESCAPES =
  /%[0-9a-f]{2}|&(?:#\d{1,7};?|#x[0-9a-f]{1,6};?|[a-z][a-z0-9]{1,30};)|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[0-7]{1,3}|["'\\/bfnrt])/gi;
/** Escapes of quoted-printable text, and its line breaks (RFC 2045 §6.7). */
const QUOTED_PRINTABLE = /=(?:[0-9A-F]{2}|\r?\n)/g;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
};
const CONTROLS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Yields the text itself, what its escapes stand for, also twice, and what it means as quoted-printable text. */
export function* readings(text: string): Generator<Reading> {
  const original: Reading = { text, startOf: (position) => position };
  yield original;
  let reading: Reading | undefined = original;
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    reading = replaced(reading, ESCAPES, unescaped);
    if (reading === undefined) break;
    yield reading;
  }
  const quoted = replaced(original, QUOTED_PRINTABLE, unquoted);
  if (quoted !== undefined) yield quoted;
}

const fromHex = (digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));

const unquoted = (escape: string): string => (escape.endsWith("\n") ? "" : fromHex(escape.slice(1)));

function unescaped(escape: string): string {
  const kind = escape[1]!.toLowerCase();
  if (escape.startsWith("%")) return fromHex(escape.slice(1));
  if (escape.startsWith("\\")) {
    if (/[0-7]/.test(kind)) return String.fromCharCode(Number.parseInt(escape.slice(1), 8));
    if (escape[2] === "{") return fromCode(Number.parseInt(escape.slice(3), 16));
    const hex = escape.length > 2;
    return hex ? fromHex(escape.slice(2)) : (CONTROLS[kind] ?? kind);
  }
  // The names of other entities stand for characters that separate letters and digits, such as `&lowbar;`.
  if (kind !== "#") return ENTITIES[escape.slice(1, -1).toLowerCase()] ?? " ";
  const isHex = /^&#x/i.test(escape);
  return fromCode(Number.parseInt(escape.slice(isHex ? 3 : 2), isHex ? 16 : 10));
}

const fromCode = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

/** Replaces the escapes of a reading. @returns undefined if it has none */
function replaced(
  { text, startOf }: Reading,
  escapes: RegExp,
  meaning: (escape: string) => string,
): Reading | undefined {
  escapes.lastIndex = 0;
  let result = "";
  /** Positions in the result where an escape or the text after it begins, with their positions in the given reading. */
  const at: number[] = [0];
  const from: number[] = [0];
  let end = 0;
  for (let escape = escapes.exec(text); escape !== null; escape = escapes.exec(text)) {
    result += text.slice(end, escape.index);
    at.push(result.length);
    from.push(escape.index);
    result += meaning(escape[0]);
    end = escape.index + escape[0].length;
    at.push(result.length);
    from.push(end);
  }
  if (from.length === 1) return undefined;
  result += text.slice(end);
  return {
    text: result,
    startOf(position) {
      const index = lastUpTo(at, position);
      return startOf(from[index]! + position - at[index]!);
    },
  };
}

/** The index of the last number that is at most `limit`, in ascending numbers that begin with 0. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (numbers[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
