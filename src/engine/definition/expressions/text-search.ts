/** Finds a text in another in linear time, whatever they hold. */
import { charge, chargeText } from "./evaluation-context.ts";
import type { Evaluation } from "./evaluation-context.ts";

/**
 * V8 searches in up to as many steps as the product of both lengths, in one call that nothing can end: half a minute for
 * a megabyte in a megabyte. Up to here that is a fraction of a millisecond.
 */
const LARGEST_PRODUCT = 1_000_000;
/** So short a part is not worth more: at most as many steps per character, of a quarter of a nanosecond. */
const SHORT = 16;

type Find = (from: number) => number;

/** A search for `part`, which gives the position from a position on, or -1. Counts both texts once. */
function finder(run: Evaluation, text: string, part: string): Find {
  chargeText(run, text.length);
  if (part.length <= SHORT || text.length * part.length <= LARGEST_PRODUCT)
    return (from) => text.indexOf(part, from);
  if (part.length > text.length) return () => -1;
  chargeText(run, part.length);
  const borders = bordersOf(run, part);
  return (from) => {
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      if (at % STRETCH === 0) charge(run, STRETCH / 4);
      const unit = text.charCodeAt(at);
      while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
      if (part.charCodeAt(matched) === unit) matched += 1;
      if (matched === part.length) return at - matched + 1;
    }
    return -1;
  };
}

/** Characters between two looks at the clock. */
const STRETCH = 65_536;

/**
 * For each beginning of a text the length of its longest border: a shorter beginning that is its end too.
 * D. E. Knuth, J. H. Morris, V. R. Pratt: Fast pattern matching in strings (1977).
 */
function bordersOf(run: Evaluation, part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    if (at % STRETCH === 0) charge(run, STRETCH / 4);
    const unit = part.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (part.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}

/** The position, in UTF-16 units; -1 where it is not there. */
export const boundedIndexOf = (run: Evaluation, text: string, part: string): number =>
  finder(run, text, part)(0);

export const boundedIncludes = (run: Evaluation, text: string, part: string): boolean =>
  boundedIndexOf(run, text, part) >= 0;

/** The pieces between the places where `separator`, which is not empty, stands. */
export function splitText(run: Evaluation, text: string, separator: string): string[] {
  const find = finder(run, text, separator);
  const pieces: string[] = [];
  let start = 0;
  for (let at = find(0); at >= 0; at = find(start)) {
    charge(run, 1);
    pieces.push(text.slice(start, at));
    start = at + separator.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}
