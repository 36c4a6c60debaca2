/** Reads the tables of a SQL statement, with CodeMirror's SQL parser. */
import type { SQLDialect } from "@codemirror/lang-sql";

/** A table that a statement reads or writes. */
export interface UsedTable {
  /** As it is written, without quotes: `orders`, `sales.orders`. */
  name: string;
  /** The name by which its columns are qualified. */
  alias: string;
}

/** Words behind which a table stands. */
const BEFORE_TABLE: ReadonlySet<string> = new Set(["from", "join", "into", "update", "table"]);

interface Token {
  kind: string;
  text: string;
}

/** @returns the tables of a statement, also of its subqueries */
export function tablesOf(sql: string, dialect: SQLDialect): UsedTable[] {
  const tokens = tokensOf(sql, dialect);
  const found: UsedTable[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (!BEFORE_TABLE.has(tokens[at]!.text.toLowerCase())) continue;
    // `from a, b` lists several.
    for (let next = readTable(tokens, at + 1); next !== undefined;) {
      found.push(next.table);
      at = next.end - 1;
      next = tokens[next.end]?.text === "," ? readTable(tokens, next.end + 1) : undefined;
    }
  }
  return found;
}

function readTable(tokens: readonly Token[], start: number): { table: UsedTable; end: number } | undefined {
  const first = tokens[start];
  if (first === undefined || !isName(first)) return undefined;
  const name = unquoted(first.text);
  let end = start + 1;
  if (tokens[end]?.text.toLowerCase() === "as") end += 1;
  const alias = tokens[end];
  if (alias === undefined || !isName(alias)) return { table: { name, alias: lastPart(name) }, end };
  return { table: { name, alias: unquoted(alias.text) }, end: end + 1 };
}

const isName = ({ kind }: Token): boolean =>
  kind === "Identifier" || kind === "QuotedIdentifier" || kind === "CompositeIdentifier";

const unquoted = (text: string): string => text.replace(/["`[\]]/g, "");

const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** The words and punctuation of a statement. A composite name is one token. */
function tokensOf(sql: string, dialect: SQLDialect): Token[] {
  const tokens: Token[] = [];
  dialect.language.parser.parse(sql).iterate({
    enter({ name, from, to, node }) {
      if (name === "LineComment" || name === "BlockComment") return false;
      if (node.firstChild !== null && name !== "CompositeIdentifier") return undefined;
      if (to > from) tokens.push({ kind: name, text: sql.slice(from, to) });
      return false;
    },
  });
  return tokens;
}

/** What is typed at the cursor, and what it depends on. */
type SqlPosition =
  | { kind: "parameter"; typed: string }
  /** Behind `name.` */
  | { kind: "member"; qualifier: string; typed: string }
  | { kind: "name"; typed: string; expectsTable: boolean }
  /** In a string or a comment. */
  | { kind: "none" };

export function positionIn(sql: string, pos: number, dialect: SQLDialect): SqlPosition {
  const before = sql.slice(0, pos);
  if (isInText(sql, pos, dialect)) return { kind: "none" };
  const parameter = /(?<![:\w]):(\w*)$/.exec(before);
  if (parameter !== null) return { kind: "parameter", typed: parameter[1]! };
  const member = /((?:["`]?\w+["`]?\.)+)(\w*)$/.exec(before);
  if (member !== null)
    return { kind: "member", qualifier: unquoted(member[1]!.slice(0, -1)), typed: member[2]! };
  const typed = /\w*$/.exec(before)![0];
  const previous = /(\w+)\s+$/.exec(before.slice(0, before.length - typed.length))?.[1]?.toLowerCase();
  return { kind: "name", typed, expectsTable: previous !== undefined && BEFORE_TABLE.has(previous) };
}

/** Whether the cursor is in a string or a comment. */
function isInText(sql: string, pos: number, dialect: SQLDialect): boolean {
  const { name, from, to } = dialect.language.parser.parse(sql).resolveInner(pos, -1);
  if (name === "LineComment") return from < pos;
  if (name !== "String" && name !== "BlockComment") return false;
  const text = sql.slice(from, to);
  const isClosed = name === "String" ? text.length > 1 && text.at(-1) === text[0] : text.endsWith("*/");
  return from < pos && (pos < to || !isClosed);
}
