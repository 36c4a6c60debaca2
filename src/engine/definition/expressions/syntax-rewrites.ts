/**
 * Translates the syntax of JavaScript, Python and template languages, which models write, to CEL. A translation counts
 * only if it parses.
 */
import type { TextRewrite } from "../../../core/connections.ts";
import { parseSyntax } from "./cel-parser.ts";
import { type DottedNames, replaceDottedNames, replaceUnreadableNames } from "./field-names.ts";
import { splitTemplate } from "./template.ts";

/** Replaces the whole of a text. */
export const rewriteWhole = (source: string, text: string): TextRewrite => ({
  source,
  edits: [{ start: 0, end: source.length, text }],
});

/**
 * Returns what an expression that does not parse means in CEL; undefined if that is not known.
 * @param names the fields that it may read
 */
export function translateSyntax(source: string, names: DottedNames = () => []): string | undefined {
  if (source.length > MAX_TRANSLATED_CHARS) return undefined;
  const masked = withoutLiterals(source);
  if (LONG_BLANKS.test(masked.code)) return undefined;
  let translated = replaceDottedNames(masked.code, names(), masked.keep);
  translated = replaceUnreadableNames(translated, masked.keep);
  for (const [pattern, replacement] of TRANSLATIONS) {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const next =
        typeof replacement === "string"
          ? translated.replaceAll(pattern, replacement)
          : translated.replaceAll(pattern, replacement);
      if (next === translated) break;
      translated = next;
    }
  }
  return parsable(source, masked.restore(translated).trim());
}

/** Returns an expression with the names of fields in brackets; undefined if it has none, or does not parse. */
export function bracketNames(source: string, names: DottedNames): string | undefined {
  const { code, keep, restore } = withoutLiterals(source);
  return parsable(source, restore(replaceDottedNames(code, names(), keep)));
}

/** A name that stands for a text. An expression that has one itself is left alone. */
const TEXT_NAME = /__text\d+__/;

const parsable = (source: string, changed: string): string | undefined =>
  changed !== source && changed !== "" && !TEXT_NAME.test(source) && "root" in parseSyntax(changed)
    ? changed
    : undefined;

/**
 * Maximum length of an expression that is translated, in characters, and what is between its words: some patterns take the square of the
 * one, and the cube of the other.
 */
const MAX_TRANSLATED_CHARS = 2_000;
const LONG_BLANKS = /\s{100}/;

/** Maximum number of times that one translation is applied: it may be nested. */
const MAX_ROUNDS = 10;

interface MaskedSource {
  code: string;
  /** Returns the name that stands for one more text. */
  keep(text: string): string;
  /** Puts the texts back. */
  restore(code: string): string;
}

/** Replaces the texts in quotes by names, so that nothing in them is translated. Line breaks in them are escaped. */
function withoutLiterals(source: string): MaskedSource {
  const literals: string[] = [];
  const keep = (text: string): string => `__text${literals.push(text) - 1}__`;
  const code = source.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs, (literal) =>
    keep(literal.startsWith("`") ? translateTemplateLiteral(literal) : escapeLineBreaks(literal)),
  );
  const restore = (text: string): string =>
    text.replaceAll(/__text(\d+)__/g, (_, index) => literals[Number(index)]!);
  return { code, keep, restore };
}

const escapeLineBreaks = (text: string): string => text.replaceAll(/\r?\n/g, String.raw`\n`);

/** Translates `Number ${n}` in backticks to text that is joined with +. */
function translateTemplateLiteral(literal: string): string {
  const parts = literal.slice(1, -1).split(/\$\{([^{}]*)\}/);
  const joined = parts
    .map((part, index) => (index % 2 === 1 ? `string(${part.trim()})` : part === "" ? "" : quoted(part)))
    .filter((part) => part !== "");
  return joined.length === 1 ? joined[0]! : `(${joined.join(" + ")})`;
}

const quoted = (text: string): string => JSON.stringify(text.replaceAll("\\`", "`"));

/**
 * A name with fields and indexes, from its start. Each character belongs to one part only, and a match begins once per name: otherwise
 * the time would grow with a power of the length, or double with each field.
 */
const PATH = String.raw`(?<![\w.])[A-Za-z_]\w*(?:\.\w+|\[[^\][]*\])*`;

type Replace = (match: string, ...groups: string[]) => string;

const TRANSLATIONS: readonly (readonly [RegExp, string | Replace])[] = [
  [/^\s*\$?\{\{((?:(?!\{\{|\}\}).)*)\}\}\s*$/gs, "$1"],
  [
    /\$?\{\{([^{}]*)\}\}/g,
    (_, inner = "") => (/^\s*[\w.[\]]+\s*$/.test(inner) ? inner.trim() : `(${inner.trim()})`),
  ],
  [/\$\.?(?=[A-Za-z_])/g, ""],
  [/;\s*$/g, ""],
  [/!==/g, "!="],
  [/===/g, "=="],
  [/<>/g, "!="],
  [/\?\.(?=\[)/g, ""],
  [/\?\.(?=[A-Za-z_])/g, "."],
  // List comprehensions and conditionals of Python.
  [
    /\[\s*([^[\]]+?)\s+for\s+(\w+)\s+in\s+([^[\]]+?)(?:\s+if\s+([^[\]]+?))?\s*\]/g,
    (_, value, name, list, condition) =>
      `${list}.map(${name}, ${condition === undefined ? "" : `${condition}, `}${value})`,
  ],
  [/^(.+?)\s+if\s+(.+?)\s+else\s+(.+)$/gs, "$2 ? $1 : $3"],
  // Arrow functions.
  [/\(\s*\(\s*(\w+)\s*\)\s*=>\s*/g, "($1, "],
  [/\(\s*(\w+)\s*=>\s*/g, "($1, "],
  [/\bis\s+not\s+(?:null|none)\b/gi, "!= null"],
  [/\bis\s+(?:null|none)\b/gi, "== null"],
  [new RegExp(String.raw`(${PATH}|__text\d+__)\s+not\s+in\s+(${PATH}|\[[^\][]*\])`, "gi"), "!($1 in $2)"],
  [/\band\b/gi, "&&"],
  [/\bor\b/gi, "||"],
  [new RegExp(String.raw`\bnot\s+(${PATH})(?=\s*(?:&&|\|\||\)|$))`, "gi"), "!$1"],
  [/\bnot\s*\(/gi, "!("],
  [/\bnot\s+([^&|()]+?)(?=\s*(?:&&|\|\||\)|$))/gi, "!($1)"],
  // Filters: x | name, x | name(argument).
  [new RegExp(String.raw`(${PATH}(?:\([^()]*\))?)\s*\|\s*(?!\|)(\w+)\(([^()]*)\)`, "g"), "$2($1, $3)"],
  [new RegExp(String.raw`(${PATH}(?:\([^()]*\))?)\s*\|\s*(?!\|)(\w+)`, "g"), "$2($1)"],
  [/(?<![&|])&(?!&)/g, "&&"],
  [/(?<![=!<>])=(?![=>])/g, "=="],
];

/** Returns an `if`, `that` or `for_each` of several templates as one expression. */
export function joinTemplates(text: string): string | undefined {
  const { parts, unclosedAt } = splitTemplate(text);
  if (unclosedAt !== undefined) return undefined;
  const joined = parts
    .map((part) =>
      "text" in part ? part.text : /^[\w.[\]]+$/.test(part.source) ? part.source : `(${part.source})`,
    )
    .join("");
  return "root" in parseSyntax(joined) ? joined.trim() : translateSyntax(joined);
}

/** Returns a text whose `${{` is not closed with the line breaks in quotes escaped, or with the missing brace. */
export function closeTemplate(text: string): string | undefined {
  const escaped = text.replaceAll(/\$\{\{.*?\}\}/gs, (template) =>
    template.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gs, escapeLineBreaks),
  );
  const closed = [
    escaped,
    text.replace(/\s*\}\s*$/, " }}"),
    text.replace(/\}(?=[^}]*$)/, "}}"),
    `${text} }}`,
  ];
  return closed.find((candidate) => candidate !== text && isParsable(candidate));
}

function isParsable(text: string): boolean {
  const { parts, unclosedAt } = splitTemplate(text);
  return (
    unclosedAt === undefined && parts.every((part) => "text" in part || "root" in parseSyntax(part.source))
  );
}

const ROOTS = "steps|inputs|item|run|index|state|loop|event";
/** An expression in the syntax of other template languages, which is hardly meant literally. Its length is limited: texts can be long. */
const FOREIGN_TEMPLATE = new RegExp(
  String.raw`(?<!\$)\{\{-?\s{0,20}\$?\.?((?:${ROOTS})\s{0,20}[.[}][^{}]{0,500}?)\s{0,20}-?\}\}|\$\{(?!\{)\s{0,20}((?:${ROOTS})\b[^{}]{0,500}?)\s{0,20}\}|<%=\s{0,20}((?:${ROOTS})\b.{0,500}?)\s{0,20}%>`,
  "g",
);

/** Returns the place of the first template of another language, and the text with all of them translated. */
export function foreignTemplate(text: string): { at: number; translated: string } | undefined {
  const at = text.search(FOREIGN_TEMPLATE);
  if (at < 0) return undefined;
  const translated = text.replaceAll(FOREIGN_TEMPLATE, (...groups: (string | undefined)[]) => {
    const source = (groups[1] ?? groups[2] ?? groups[3])!.replace(/\}$/, "");
    return `\${{ ${"root" in parseSyntax(source) ? source : (translateSyntax(source) ?? source)} }}`;
  });
  return { at, translated };
}
