/** Takes the values out of the text of a query: a query of a workflow gets them as parameters. */

/** A value that is written in a query. */
export interface SqlLiteral {
  value: string | number;
  /** The column that it is compared with; undefined if that is not certain. */
  column: string | undefined;
}

/** Comments and quoted names, which are skipped; a text, or a number after a comparison. */
const TOKENS =
  /--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|`[^`]*`|(?<column>[A-Za-z_]\w*)?(?<between>\s*(?:<=|>=|<>|!=|=|<|>)\s*)(?:'(?<compared>(?:[^']|'')*)'|(?<number>\d+(?:\.\d+)?)(?![\w.]))|(?<word>\b[A-Za-z_]\w*\s*)?'(?<text>(?:[^']|'')*)'/g;

/** Words that make the text after them a literal of another type, which a parameter can't be. */
const TYPED = /^(?:date|time|timestamp|timestamptz|interval|e|x|b|n)\s*$/i;

/**
 * Replaces values in a query by parameters.
 * @param parameterFor the name of the parameter for a value; undefined leaves the value in the query
 */
export const takeOutLiterals = (
  query: string,
  parameterFor: (literal: SqlLiteral) => string | undefined,
): string =>
  query.replaceAll(TOKENS, (token: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const { column, between, compared, number, word = "", text } = groups;
    if (between !== undefined) {
      const value = number === undefined ? unquoted(compared!) : Number(number);
      const name = parameterFor({ value, column });
      return name === undefined ? token : `${column ?? ""}${between}:${name}`;
    }
    if (text === undefined || TYPED.test(word)) return token;
    const name = parameterFor({ value: unquoted(text), column: undefined });
    return name === undefined ? token : `${word}:${name}`;
  });

const unquoted = (text: string): string => text.replaceAll("''", "'");
