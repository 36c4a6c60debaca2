/** Lists in the query of a request, and in the fields of the web interface: values with commas between them. */

/** A part of a list: what is in quotes or brackets, as in the arguments of an expression, is not split. */
const LIST_PART = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,])+/gs;
const BRACKETS: ReadonlyMap<string, number> = new Map([
  ["(", 1],
  ["[", 1],
  ["{", 1],
  [")", -1],
  ["]", -1],
  ["}", -1],
]);

/** Splits a text at its commas, except those inside of quotes or brackets. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  for (const [part] of text.matchAll(LIST_PART)) {
    if (depth > 0) parts.push(`${parts.pop()!},${part}`);
    else parts.push(part);
    const unquoted = part.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gs, "");
    for (const character of unquoted) depth = Math.max(0, depth + (BRACKETS.get(character) ?? 0));
  }
  return parts;
}
