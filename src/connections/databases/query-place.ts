/** Finds the place of a query that an error of its database is about. */
import type { TextPlace } from "../../core/connections.ts";
import { offsetsOf } from "../../core/offsets-of.ts";
import type { ScannedQuery } from "./sql-scanner.ts";

/** As drivers that know the place write it, see `RenderedQuery.locate`. */
const POSITION = /\bline (\d+), column (\d+)\b/;
/** The text at which a parser stopped. */
const STOPPED_AT = /\bnear (["'])(.+?)\1(?=[:\n]| at line|$)/s;
/** A character that belongs to a word or a parameter. */
const IN_WORD = /[\p{L}\p{N}_:]/u;

interface QueryError {
  message: string;
  /** The table or column that does not exist. */
  missing: string | undefined;
}

/** @returns undefined if the message says nothing of the place, or the query has the text at which its parser stopped several times */
export function placeInQuery(
  query: string,
  isComment: ScannedQuery["isComment"],
  error: QueryError,
): TextPlace | undefined {
  const offset = offsetOfPosition(query, error) ?? offsetOfWord(query, isComment, error);
  return offset === undefined ? undefined : { source: query, offset };
}

function offsetOfPosition(query: string, { message }: QueryError): number | undefined {
  const [, line, column] = POSITION.exec(message) ?? [];
  if (line === undefined) return undefined;
  const before = query.split("\n").slice(0, Number(line) - 1);
  const offset = before.reduce((sum, text) => sum + text.length + 1, 0) + Number(column) - 1;
  return offset < query.length ? offset : undefined;
}

/** A missing name may stand in the query several times: the first place counts. */
function offsetOfWord(
  query: string,
  isComment: ScannedQuery["isComment"],
  { message, missing }: QueryError,
): number | undefined {
  const word = missing ?? STOPPED_AT.exec(message)?.[2];
  if (word === undefined) return undefined;
  const found = offsetsOf(word, query).filter(
    (at) =>
      !isComment(at) &&
      !IN_WORD.test(query.slice(0, at).slice(-1)) &&
      !IN_WORD.test(query.charAt(at + word.length)),
  );
  return missing !== undefined || found.length === 1 ? found[0] : undefined;
}
