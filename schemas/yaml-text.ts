/** Which texts need quotes in YAML, so that programs that read YAML 1.1 or 1.2 get the text. */

/**
 * Scalars that YAML 1.1, which many programs still read, takes for something else: dates and booleans, numbers (`12:30:45` in base 60,
 * `1_000`, `0b11`), a merge and a default value (https://yaml.org/type/).
 */
const YAML_1_1_SCALAR =
  /^(?:\d{4}-\d\d?-\d\d?(?!\d)|(?:y|n|yes|no|on|off)\b|[-+]?(?:[\d.][\d_.,:]*(?:e[-+]?\d+)?|0[xbo][\da-f_]+)$|(?:=|<<)$)/i;

/** Characters that no YAML has as they are, or that end a line in YAML 1.1 only. */
const UNPRINTABLE = String.raw`[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]`;
const HAS_UNPRINTABLE = new RegExp(UNPRINTABLE);
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, "g");

/**
 * Whether a string needs quotes: it contains characters with a meaning in YAML (`{`, `#`, `: `), or a block would not
 * keep it (white space at the ends of lines, other line ends).
 */
export const needsQuotes = (text: string): boolean =>
  HAS_UNPRINTABLE.test(text) ||
  (text.includes("\n")
    ? /[^\S\n]\n|[\p{Cc}--[\t\n]]/v.test(text) || /^\s/.test(text)
    : text.includes("${{") || YAML_1_1_SCALAR.test(text) || /^[!&*?|>@`%{[\]},#"'-]| #|: |:$/.test(text));

/** @param yaml a document in which all texts that need quotes have double quotes */
export const escapeUnprintable = (yaml: string): string =>
  yaml.replaceAll(
    EACH_UNPRINTABLE,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );
