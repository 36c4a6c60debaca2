/** Splits long text into parts that the browser can render quickly. */

/** Maximum length of a part, in UTF-16 code units. */
const PART_CHARS = 20_000;
/** A part ends up to this many code units earlier if it can end with a line there. */
const LINE_SEARCH_CHARS = 2_000;

/** @returns the offset of each part, followed by the length of the text */
export function splitOffsets(text: string): number[] {
  const offsets = [0];
  for (let at = 0; at < text.length; offsets.push(at)) at = endOfPart(text, at);
  return offsets;
}

function endOfPart(text: string, from: number): number {
  const end = from + PART_CHARS;
  if (end >= text.length) return text.length;
  const lineEnd = text.lastIndexOf("\n", end - 1) + 1;
  if (lineEnd > end - LINE_SEARCH_CHARS) return lineEnd;
  // Never splits a surrogate pair.
  return /[\uDC00-\uDFFF]/.test(text.charAt(end)) ? end - 1 : end;
}
