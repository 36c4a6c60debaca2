/** Finds the expressions in a text: `${{ … }}`, which may contain strings and maps. `$${{` is the escape of `${{`. */

type Part = { text: string } | { source: string };

export interface Template {
  parts: Part[];
  /** Offset of a `${{` that is not closed. */
  unclosedAt?: number;
}

const OPEN = "${{";

/** Splits a text into its parts, in order. */
export function splitTemplate(text: string): Template {
  const parts: Part[] = [];
  let plain = "";
  let at = 0;
  for (;;) {
    const open = text.indexOf(OPEN, at);
    if (open < 0) break;
    if (text[open - 1] === "$" && open > at) {
      plain += text.slice(at, open - 1) + OPEN;
      at = open + OPEN.length;
      continue;
    }
    const start = open + OPEN.length;
    const close = closingBraces(text, start);
    if (close < 0) return { parts, unclosedAt: open };
    plain += text.slice(at, open);
    if (plain !== "") parts.push({ text: plain });
    plain = "";
    parts.push({ source: text.slice(start, close).trim() });
    at = close + 2;
  }
  plain += text.slice(at);
  if (plain !== "") parts.push({ text: plain });
  return { parts };
}

/** Returns the source if the template is one expression, apart from white space around it. */
export function wholeExpression({ parts, unclosedAt }: Template): string | undefined {
  if (unclosedAt !== undefined) return undefined;
  const nonBlank = parts.filter((part) => "source" in part || part.text.trim() !== "");
  return nonBlank.length === 1 && "source" in nonBlank[0]! ? nonBlank[0].source : undefined;
}

/** Returns the offset of the `}}` that closes the expression which begins at `start`; -1 if there is none. */
function closingBraces(text: string, start: number): number {
  let maps = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '"' || letter === "'") {
      at = stringEnd(text, at);
      if (at < 0) return -1;
    } else if (letter === "/" && text[at + 1] === "/") {
      const newline = text.indexOf("\n", at);
      if (newline < 0) return -1;
      at = newline;
    } else if (letter === "{") {
      maps += 1;
    } else if (letter === "}") {
      if (maps > 0) maps -= 1;
      else if (text[at + 1] === "}") return at;
    }
  }
  return -1;
}

/** Returns the offset of the last quote of the string that begins at `start`; -1 if it is not closed. */
function stringEnd(text: string, start: number): number {
  const quote = text[start]!;
  const triple = quote.repeat(3);
  const long = text.startsWith(triple, start);
  for (let at = start + (long ? 3 : 1); at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\\") at += 1;
    else if (long && text.startsWith(triple, at)) return at + 2;
    else if (!long && letter === quote) return at;
    else if (!long && letter === "\n") return -1;
  }
  return -1;
}
