/**
 * Finds the `:name` parameters of a query, its first word and whether it is one statement. It skips strings, comments, quoted
 * names and dollar quotes like the database does. The database still parses the query, so a mistake here cannot turn one
 * statement into two.
 */
import type { PartialIssue } from "../../core/connections.ts";
import { forbiddenCall } from "./duckdb-functions.ts";

export type Dialect = "sqlite" | "duckdb" | "postgresql" | "mysql";

/** Maximum length of a query, in characters. */
export const MAX_QUERY_LENGTH = 100_000;

export interface ScannedQuery {
  /** Parameters, each once, in the order in which they first appear. */
  parameterNames: string[];
  /** The first word in lower case; "" where there is none. */
  keyword: string;
  /** All words outside quotes, in lower case. */
  words: ReadonlySet<string>;
  /** Words in lower case, parentheses, and one `?` for each quoted text or parameter, in order. */
  tokens: readonly string[];
  issues: PartialIssue[];
  /** Whether a comment is at an offset. */
  isComment(offset: number): boolean;
  /** The query as a driver takes it; `index` counts `names` from 0. */
  render(placeholder: (index: number) => string): RenderedQuery;
}

export interface RenderedQuery {
  text: string;
  /** The parameters in the order of their placeholders, as indexes of `names`. */
  parameterOrder: number[];
  /** "line 2, column 7" of what was written, for an offset (from 0) in `text`. */
  locate(offset: number): string;
}

interface Piece {
  /** Where it begins in what was written. */
  at: number;
  /** The index of a parameter, or undefined for plain text. */
  param?: number;
  text: string;
}

const STANDARD_STRING = String.raw`'[^']*(?:''[^']*)*(?:'|$)`;
const ESCAPED = (quote: string): string =>
  String.raw`${quote}[^${quote}\\]*(?:(?:\\[\s\S]|${quote}${quote})[^${quote}\\]*)*(?:${quote}|$)`;
const QUOTED = (quote: string): string =>
  `${quote}[^${quote}]*(?:${quote}${quote}[^${quote}]*)*(?:${quote}|$)`;
const DOLLAR_QUOTED = String.raw`\$(?<tag>(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[\s\S]*?(?:\$\k<tag>\$|$(?![\s\S]))`;
const DASH_COMMENT = String.raw`--[^\n]*`;
/** PostgreSQL's lexer, which DuckDB has too, ends a line at either. */
const DASH_COMMENT_TO_CR = String.raw`--[^\n\r]*`;

/** What the text outside of names and parameters may be, per dialect. */
const SKIPPED: Readonly<Record<Dialect, RegExp>> = {
  sqlite: sticky(STANDARD_STRING, QUOTED('"'), QUOTED("`"), String.raw`\[[^\]]*(?:\]|$)`),
  duckdb: sticky(`[eE]${ESCAPED("'")}`, STANDARD_STRING, QUOTED('"'), DOLLAR_QUOTED),
  postgresql: sticky(`[eE]${ESCAPED("'")}`, STANDARD_STRING, QUOTED('"'), DOLLAR_QUOTED),
  mysql: sticky(ESCAPED("'"), ESCAPED('"'), QUOTED("`")),
};

const COMMENT: Readonly<Record<Dialect, RegExp>> = {
  sqlite: sticky(DASH_COMMENT),
  duckdb: sticky(DASH_COMMENT_TO_CR),
  postgresql: sticky(DASH_COMMENT_TO_CR),
  // A space or any control character makes it one, and no other white space of Unicode's.
  mysql: sticky(String.raw`--(?=[\x00-\x20\x7f]|$)[^\n]*`, String.raw`#[^\n]*`),
};

/** Placeholders of the drivers, which bind nothing here. */
const FOREIGN: Readonly<Record<Dialect, RegExp>> = {
  sqlite: sticky(String.raw`\?\d*`, String.raw`[$@][A-Za-z_]\w*`),
  duckdb: sticky(String.raw`\?\d*`, String.raw`\$\w+`),
  postgresql: sticky(String.raw`\$\d+`),
  mysql: sticky(String.raw`\?`),
};

/** All but tab and line ends; databases don't agree on what they are. */
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/; // oxlint-disable-line no-control-regex
const SPACE = /\s+/y;
const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
const NUMBER = /\d[\w.]*/y;
const PARAMETER = /:([A-Za-z_]\w*)/y;
/** After these a colon belongs to a slice, a struct or an alias (`a[1:n]`, `{'a':b}`). */
const NO_PARAMETER_AFTER = /[\w"'`\])}]/;

function sticky(...alternatives: string[]): RegExp {
  return new RegExp(alternatives.join("|"), "y");
}

/** @param query at most MAX_QUERY_LENGTH characters; otherwise only an issue is returned */
export function scanQuery(query: string, dialect: Dialect): ScannedQuery {
  const issues: PartialIssue[] = [];
  const issue = (code: string, message: string, fix: string): void => {
    if (!issues.some((known) => known.code === code)) issues.push({ path: ["query"], code, message, fix });
  };
  const parameterNames: string[] = [];
  const words = new Set<string>();
  const tokens: string[] = [];
  const pieces: Piece[] = [];
  const comments: { from: number; to: number }[] = [];
  /** The query without comments. */
  let code = "";
  let keyword = "";
  let ended = false;
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(query)?.[0];
  };
  /** Takes what stands here, outside of quotes; a comment may follow the end of the statement, all else may not. */
  const take = (text: string, isComment = false): void => {
    if (CONTROL.test(text)) refuseControl();
    takeQuoted(text, isComment);
  };
  const refuseControl = (): void =>
    issue(
      "control_character",
      "contains a control character",
      "Remove it. Only tabs and line breaks are allowed.",
    );
  const takeQuoted = (text: string, isComment = false): void => {
    code += isComment ? " " : text;
    if (!ended) pieces.push({ at, text });
    else if (!isComment)
      issue("several_statements", "must be one statement", "Use a separate step for each statement.");
    at += text.length;
  };

  if (query.length > MAX_QUERY_LENGTH) {
    issue("too_long", `must be at most ${MAX_QUERY_LENGTH} characters`, "Move a part of it to a view.");
    at = query.length;
  }
  // Not even in quotes: some end the query there.
  if (query.includes("\0")) refuseControl();
  while (at < query.length) {
    const comment = match(SPACE) ?? match(COMMENT[dialect]) ?? blockComment(query, at, dialect);
    if (comment !== undefined) {
      if (dialect === "mysql" && /^\/\*M?!/.test(comment))
        issue(
          "executable_comment",
          "must not hold a comment that the server executes",
          "Remove the /*! comment.",
        );
      comments.push({ from: at, to: at + comment.length });
      take(comment, true);
      continue;
    }
    const skipped = match(SKIPPED[dialect]);
    if (skipped !== undefined) {
      tokens.push("?");
      takeQuoted(skipped);
      continue;
    }
    const word = match(WORD);
    if (word !== undefined) {
      const lower = word.toLowerCase();
      keyword ||= lower;
      words.add(lower);
      tokens.push(lower);
      take(word);
      continue;
    }
    const foreign = match(FOREIGN[dialect]);
    if (foreign !== undefined) {
      issue(
        "foreign_parameter",
        `holds ${foreign}; parameters are written :name here`,
        "Write :name, and add it to params.",
      );
      take(foreign);
      continue;
    }
    const number = match(NUMBER);
    if (number !== undefined) {
      take(number);
      continue;
    }
    const param = query.startsWith("::", at) ? undefined : match(PARAMETER);
    if (param !== undefined && isParameter(query, at, dialect)) {
      const name = param.slice(1);
      tokens.push("?");
      if (!parameterNames.includes(name)) parameterNames.push(name);
      if (!ended) pieces.push({ at, text: param, param: parameterNames.indexOf(name) });
      at += param.length;
      continue;
    }
    if (query[at] === ";") {
      ended = true;
      at += 1;
      continue;
    }
    if (query[at] === "(" || query[at] === ")") tokens.push(query[at]!);
    take(query.startsWith("::", at) ? "::" : query[at]!);
  }
  const forbidden = dialect === "duckdb" ? forbiddenCall(code) : undefined;
  if (forbidden !== undefined) issues.push(forbidden);
  if (keyword === "" && issues.length === 0)
    issue("empty_query", "contains no statement", "Write a statement, such as SELECT 1.");
  return {
    parameterNames,
    keyword,
    words,
    tokens,
    issues,
    isComment: (offset) => comments.some(({ from, to }) => from <= offset && offset < to),
    render: (placeholder) => render(query, pieces, placeholder),
  };
}

const isParameter = (query: string, at: number, dialect: Dialect): boolean =>
  dialect === "sqlite" || dialect === "mysql" || !NO_PARAMETER_AFTER.test(query[at - 1] ?? " ");

/** PostgreSQL and DuckDB nest them, SQLite and MySQL don't. */
function blockComment(query: string, start: number, dialect: Dialect): string | undefined {
  if (!query.startsWith("/*", start)) return undefined;
  const nests = dialect === "postgresql" || dialect === "duckdb";
  let depth = 1;
  let at = start + 2;
  while (depth > 0 && at < query.length) {
    if (query.startsWith("*/", at)) {
      depth -= 1;
      at += 2;
    } else if (nests && query.startsWith("/*", at)) {
      depth += 1;
      at += 2;
    } else at += 1;
  }
  return query.slice(start, at);
}

function render(
  query: string,
  pieces: readonly Piece[],
  placeholder: (index: number) => string,
): RenderedQuery {
  const parameterOrder: number[] = [];
  const starts: { from: number; at: number }[] = [];
  let text = "";
  for (const piece of pieces) {
    starts.push({ from: text.length, at: piece.at });
    if (piece.param !== undefined) parameterOrder.push(piece.param);
    text += piece.param === undefined ? piece.text : placeholder(piece.param);
  }
  return {
    text,
    parameterOrder,
    locate: (offset) => {
      const piece = starts.findLast(({ from }) => from <= offset);
      const before = query.slice(0, piece === undefined ? 0 : piece.at + offset - piece.from).split("\n");
      return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    },
  };
}
