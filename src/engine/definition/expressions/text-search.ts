/** Finds a text in another in linear time, whatever the two contain. */
import { charge, chargeText, limitList } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

/**
 * Product of both lengths up to which V8's own search is used. It may take that many steps in one call that can't be
 * interrupted: a fraction of a millisecond up to here, but half a minute for a megabyte in a megabyte.
 */
const MAX_NATIVE_PRODUCT = 1_000_000;
/** Length of a part up to which V8's own search is used: it takes at most this many steps per character. */
const MAX_NATIVE_PART = 16;

type FindFrom = (offset: number) => number;

/** Makes a search for `part` from an offset on, which returns its offset or -1. Charges for both texts once. */
function finder(evaluation: Evaluation, text: string, part: string): FindFrom {
  chargeText(evaluation, text.length);
  if (part.length <= MAX_NATIVE_PART || text.length * part.length <= MAX_NATIVE_PRODUCT)
    return (from) => text.indexOf(part, from);
  if (part.length > text.length) return () => -1;
  chargeText(evaluation, part.length);
  const borders = bordersOf(evaluation, part);
  return (from) => {
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      if (at % CHARGE_INTERVAL === 0) charge(evaluation, CHARGE_INTERVAL / 4);
      const unit = text.charCodeAt(at);
      while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
      if (part.charCodeAt(matched) === unit) matched += 1;
      if (matched === part.length) return at - matched + 1;
    }
    return -1;
  };
}

/** Characters between two charges. */
const CHARGE_INTERVAL = 65_536;

/**
 * Returns for each prefix of a text the length of its longest border: a shorter prefix that is also its suffix.
 * D. E. Knuth, J. H. Morris, V. R. Pratt: Fast pattern matching in strings (1977).
 */
function bordersOf(evaluation: Evaluation, part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    if (at % CHARGE_INTERVAL === 0) charge(evaluation, CHARGE_INTERVAL / 4);
    const unit = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (part.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** Returns the offset in UTF-16 units; -1 if the part does not occur. */
export const boundedIndexOf = (evaluation: Evaluation, text: string, part: string): number =>
  finder(evaluation, text, part)(0);

export const boundedIncludes = (evaluation: Evaluation, text: string, part: string): boolean =>
  boundedIndexOf(evaluation, text, part) >= 0;

/** @param separator must not be empty */
export function splitText(evaluation: Evaluation, text: string, separator: string): string[] {
  const findFrom = finder(evaluation, text, separator);
  const pieces: string[] = [];
  let start = 0;
  for (let at = findFrom(0); at >= 0; at = findFrom(start)) {
    charge(evaluation, 1);
    limitList(evaluation, pieces.length + 2);
    pieces.push(text.slice(start, at));
    start = at + separator.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}
