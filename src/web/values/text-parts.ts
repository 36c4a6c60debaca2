/** Long text in parts that a page can show at once. */

const PART_CHARS = 20_000;
/** How far back a part may end so that it ends with a line. */
const LOOK_BACK = 2_000;

/** Where each part begins, and at last where the text ends. The parts together are the text. */
export function splitOffsets(text: string): number[] {
  const marks = [0];
  for (let at = 0; at < text.length; marks.push(at)) at = endOfPart(text, at);
  return marks;
}

function endOfPart(text: string, from: number): number {
  const end = from + PART_CHARS;
  if (end >= text.length) return text.length;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > end - LOOK_BACK) return line;
  // Not between the two halves of one character.
  return /[\uDC00-\uDFFF]/.test(text.charAt(end)) ? end - 1 : end;
}
