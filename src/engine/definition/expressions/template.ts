/** Finds the expressions in a text: `${{ … }}`, closed where CEL's own lexer would close it; `$${{` stands for `${{`. */

type Part = { text: string } | { source: string };

export interface Template {
  parts: Part[];
  /** Where the `${{` stands that nothing closes. */
  unclosedAt?: number;
}

const OPEN = "${{";

/** The parts of a text in their order; texts without an escape are one part. */
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

/** The source where the template is, apart from outer white space, one expression. */
export function wholeExpression({ parts, unclosedAt }: Template): string | undefined {
  if (unclosedAt !== undefined) return undefined;
  const rest = parts.filter((part) => "source" in part || part.text.trim() !== "");
  return rest.length === 1 && "source" in rest[0]! ? rest[0].source : undefined;
}

/** Where the `}}` stands that belongs to no map and no string of the expression that begins at `start`; else -1. */
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

/** Where the string that begins at `start` has its last quote; else -1. */
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
