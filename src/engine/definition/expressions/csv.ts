/** Parses CSV (RFC 4180). */
import { charge, chargeText, limitList } from "./evaluation-context.ts";
import { throwFailed } from "./failures.ts";
import type { CallContext } from "./functions.ts";
import { setField } from "./values.ts";

export interface CsvOptions {
  /** Whether the first row has the names of the fields. */
  header: boolean;
  separator: string;
}

/** Work of setting a field of a row. */
const FIELD_COST = 10;

/** Returns an object for each row, or with `header: false` a list for each. All values are text. */
export function parseCsv(text: string, { header, separator }: CsvOptions, call: CallContext): unknown[] {
  const { evaluation, location } = call;
  const rows = rowsOf(text, separator, call);
  if (!header) return rows;
  const [names = [], ...records] = rows;
  limitList(evaluation, 4 * names.length);
  if (new Set(names).size < names.length)
    throwFailed(location, "parses CSV whose header has the same name twice");
  return records.map((record) => {
    charge(evaluation, FIELD_COST * record.length);
    const object: Record<string, unknown> = {};
    record.forEach((value, index) => setField(object, names[index]!, value));
    return object;
  });
}

/** All rows have as many values as the first one. Empty lines are no rows. */
function rowsOf(text: string, separator: string, call: CallContext): string[][] {
  const { evaluation, location } = call;
  chargeText(evaluation, text.length, 1 / 2);
  const rows: string[][] = [];
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  let at = start;
  while (at < text.length) {
    // An empty line is no row, but one with two quotes is.
    if (text[at] === "\r" || text[at] === "\n") {
      at += 1;
      continue;
    }
    const { values, end } = readRow(text, at, separator, call);
    at = end;
    charge(evaluation, 2 * values.length);
    const expected = rows[0]?.length ?? values.length;
    if (values.length !== expected)
      throwFailed(
        location,
        `parses CSV whose row ${rows.length + 1} has ${values.length} values, but its first row has ${expected}`,
      );
    limitList(evaluation, rows.length + 1);
    rows.push(values);
  }
  return rows;
}

function readRow(
  text: string,
  from: number,
  separator: string,
  { evaluation, location }: CallContext,
): { values: string[]; end: number } {
  const values: string[] = [];
  let at = from;
  for (;;) {
    let value: string;
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close < 0) return throwFailed(location, "parses CSV with a quote that is not closed");
      value = text.slice(at + 1, close).replaceAll('""', '"');
      at = close + 1;
      if (at < text.length && text[at] !== separator && text[at] !== "\r" && text[at] !== "\n")
        return throwFailed(location, "parses CSV with text after a closing quote");
    } else {
      const end = plainEnd(text, at, separator);
      value = text.slice(at, end);
      at = end;
    }
    limitList(evaluation, values.length + 1);
    values.push(value);
    if (text[at] !== separator) break;
    at += 1;
  }
  if (text[at] === "\r" && text[at + 1] === "\n") return { values, end: at + 2 };
  return { values, end: Math.min(at + 1, text.length) };
}

function plainEnd(text: string, from: number, separator: string): number {
  let at = from;
  while (at < text.length && text[at] !== separator && text[at] !== "\r" && text[at] !== "\n") at += 1;
  return at;
}

/** Two quotes are one quote of the value. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at;
  return -1;
}
