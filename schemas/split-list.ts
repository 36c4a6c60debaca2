/** Lists in the query of a request, and in the fields of the web interface: values with commas between them. */

/** A text in quotes, or one character. */
const TOKEN = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|./gs;
const BRACKETS: ReadonlyMap<string, number> = new Map([
  ["(", 1],
  ["[", 1],
  ["{", 1],
  [")", -1],
  ["]", -1],
  ["}", -1],
]);

/** Splits a text at its commas, except those inside of quotes or brackets, as in the arguments of an expression. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else {
      part += token;
      depth = Math.max(0, depth + (BRACKETS.get(token) ?? 0));
    }
  }
  return [...parts, part];
}
