/** Parses CSV (RFC 4180). No value is guessed, left out or changed: all values are texts, and what has two readings is an issue. */
import { nearMatch } from "./near-match.ts";

export interface CsvOptions {
  /** Whether the first row has the names of the fields. */
  header?: boolean | undefined;
  /** The character between values. Default: the one in a first line such as `sep=;`, else a comma. */
  separator?: string | undefined;
  /** Whether rows may lack values: they get null. */
  ragged?: "error" | "pad" | undefined;
}

/** Why a text can't be read. */
interface CsvIssue {
  /** Number of the line in the text, from 1. Lines inside of quotes count. */
  line: number;
  /** A sentence without its period. */
  message: string;
  fix: string;
}

/** Counts the work, and can refuse it by an error. */
export interface CsvMeter {
  /** Before a list gets this length. */
  limitList(length: number): void;
  /** Before values are read. */
  countRead(values: number): void;
  /** Before values become fields of objects. */
  countFields(values: number): void;
}

/** Returns an object for each row, or with `header: false` a list for each. */
type CsvResult = { rows: unknown[] } | { issue: CsvIssue };

/** Maximum number of values that `ragged: "pad"` adds: few long rows and many short ones would need too much memory. */
const MAX_ADDED = 1_000_000;
/** Maximum length of a name in a message, in characters. */
const MAX_NAME = 60;

const OPTIONS = ["header", "separator", "ragged"] as const;
/** Names of other programs that are too different for a near match. */
const OTHER_NAMES: Readonly<Record<string, (typeof OPTIONS)[number]>> = {
  columns: "header",
  delimiter: "separator",
  fill: "ragged",
  pad: "ragged",
  sep: "separator",
};
/** A line break and a quote have a meaning; half of a surrogate pair is no character. */
const SEPARATOR = /^[^"\r\n\uD800-\uDFFF]$/;

const CHECKS: Readonly<Record<(typeof OPTIONS)[number], (value: unknown) => string | undefined>> = {
  header: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  separator: (value) =>
    typeof value === "string" && SEPARATOR.test(value) ? undefined : 'one character, such as ";" or "\\t"',
  ragged: (value) => (value === "error" || value === "pad" ? undefined : '"error" or "pad"'),
};

/**
 * Checks the names and values of options.
 * @param options a value that is undefined is not known yet
 * @returns `message` without its subject: "has an unknown option …"
 */
export function csvOptionsIssue(
  options: Readonly<Record<string, unknown>>,
): { message: string; fix: string; did_you_mean?: string } | undefined {
  for (const [name, value] of Object.entries(options)) {
    const known = OPTIONS.find((option) => option === name);
    if (known === undefined) {
      const near = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : nearMatch(name, OPTIONS);
      return {
        message: `has the unknown option ${JSON.stringify(name.slice(0, MAX_NAME))} of CSV`,
        fix: `Write ${near ?? `one of ${OPTIONS.join(", ")}`}.`,
        ...(near !== undefined && { did_you_mean: near }),
      };
    }
    const expected = value === undefined ? undefined : CHECKS[known](value);
    if (expected !== undefined)
      return {
        message: `has another value for the option ${known} of CSV than ${expected}`,
        fix: `Write ${expected}.`,
      };
  }
  return undefined;
}

const UNMETERED: CsvMeter = {
  limitList: () => undefined,
  countRead: () => undefined,
  countFields: () => undefined,
};

/** @param options valid ones (`csvOptionsIssue`) */
export function parseCsv(text: string, options: CsvOptions = {}, meter: CsvMeter = UNMETERED): CsvResult {
  const { header = true, ragged = "error" } = options;
  const start = startOf(text, options.separator);
  if ("issue" in start) return start;
  const read = readRows(text, start, meter);
  if ("issue" in read) return read;
  const { rows } = read;
  const isPadded = ragged === "pad";
  const width =
    header || !isPadded
      ? (rows[0]?.values.length ?? 0)
      : rows.reduce((most, row) => Math.max(most, row.values.length), 0);
  const issue =
    (header ? headerIssue(rows[0], meter) : undefined) ?? widthIssue(rows, width, { header, isPadded });
  if (issue !== undefined) {
    const other = otherSeparator(rows[0]);
    return {
      issue: other === undefined ? issue : { ...issue, fix: `${separatorFix(other)} Else: ${issue.fix}` },
    };
  }
  if (isPadded) {
    const added = rows.reduce((sum, row) => sum + width - row.values.length, 0);
    if (added > MAX_ADDED) return { issue: tooManyAdded(added, width, rows[0]!.line) };
    meter.countRead(added);
  }
  const lists = rows.map(({ values }): (string | null)[] =>
    values.length === width
      ? values
      : Array.from({ length: width }, (_, index) => (index < values.length ? values[index]! : null)),
  );
  const names = rows[0]?.values ?? [];
  if (!header) return { rows: lists };
  return {
    rows: lists.slice(1).map((record) => {
      meter.countFields(record.length);
      return objectOf(names, record);
    }),
  };
}

function objectOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  values.forEach((value, index) => {
    const name = names[index]!;
    if (name !== "__proto__") object[name] = value;
    else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  });
  return object;
}

interface Start {
  /** Offset of the first row. */
  at: number;
  line: number;
  separator: string;
}

/** Reads the byte order mark, and the line with which Excel and LibreOffice name the separator. */
function startOf(text: string, given: string | undefined): Start | { issue: CsvIssue } {
  const at = text.startsWith("\uFEFF") ? 1 : 0;
  const line = /^[^\r\n]*/.exec(text.slice(at, at + MAX_NAME))![0];
  if (!/^"?sep=/i.test(line)) return { at, line: 1, separator: given ?? "," };
  const separator = /^(?:sep=(.)|"sep=(.)")$/i
    .exec(line)
    ?.slice(1)
    .find((part) => part !== undefined);
  if (separator === undefined || !SEPARATOR.test(separator))
    return issueAt(
      1,
      `line 1 begins with sep=, but does not name one character as the separator: ${quoted(line)}`,
      "Write sep= and the separator there and nothing else, or remove the line and set the option separator.",
    );
  if (given !== undefined && given !== separator)
    return issueAt(
      1,
      `line 1 says that the separator is ${quoted(separator)}, but the option separator is ${quoted(given)}`,
      "Leave out the option, or remove the line.",
    );
  return { at: afterLineEnd(text, at + line.length), line: 2, separator };
}

interface Row {
  values: string[];
  /** The line in which it begins. */
  line: number;
}

/** Empty lines are no rows. */
function readRows(text: string, start: Start, meter: CsvMeter): { rows: Row[] } | { issue: CsvIssue } {
  const { separator } = start;
  const rows: Row[] = [];
  let { at, line } = start;
  while (at < text.length) {
    // An empty line is no row, but one with two quotes is.
    const lineEnd = afterLineEnd(text, at);
    if (lineEnd > at) {
      at = lineEnd;
      line += 1;
      continue;
    }
    const read = readRow(text, { at, line, separator }, meter);
    if ("issue" in read) return read;
    meter.limitList(rows.length + 1);
    rows.push({ values: read.values, line });
    ({ at, line } = read);
  }
  return { rows };
}

function readRow(
  text: string,
  { at: from, line: firstLine, separator }: Start,
  meter: CsvMeter,
): { values: string[]; at: number; line: number } | { issue: CsvIssue } {
  const values: string[] = [];
  let at = from;
  let line = firstLine;
  for (;;) {
    meter.limitList(values.length + 1);
    meter.countRead(1);
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if (close < 0)
        return issueAt(
          line,
          `the quote that begins value ${values.length + 1} of line ${line} is not closed`,
          'Close it. A quote inside of a value in quotes is written twice: "".',
        );
      const value = text.slice(at + 1, close);
      const opened = line;
      line += value.match(/\r\n|\r|\n/g)?.length ?? 0;
      at = close + 1;
      if (at < text.length && text[at] !== separator && text[at] !== "\r" && text[at] !== "\n")
        return issueAt(
          line,
          `line ${line} has ${quoted(nextCharacter(text, at))} after the quote that ends value ${values.length + 1}` +
            (opened === line ? "" : `, which begins in line ${opened}`),
          'Write the separator there. A quote inside of a value in quotes is written twice: "".',
        );
      values.push(value.replaceAll('""', '"'));
    } else {
      const end = plainEnd(text, at, separator);
      const value = text.slice(at, end);
      if (value.includes('"') && /^\s+"/.test(value))
        return issueAt(
          line,
          `line ${line} has a space before the quote that begins value ${values.length + 1}`,
          "Remove the space: a value is in quotes only if they are its first and last characters.",
        );
      values.push(value);
      at = end;
    }
    if (text[at] !== separator) break;
    at += 1;
  }
  return { values, at: afterLineEnd(text, at), line: line + 1 };
}

/** The offset after a line end (CRLF, LF or CR) at this offset; the offset itself if there is none. */
function afterLineEnd(text: string, at: number): number {
  if (text[at] === "\r") return text[at + 1] === "\n" ? at + 2 : at + 1;
  return text[at] === "\n" ? at + 1 : at;
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

function headerIssue(header: Row | undefined, meter: CsvMeter): CsvIssue | undefined {
  if (header === undefined) return undefined;
  const { values: names, line } = header;
  meter.limitList(4 * names.length);
  const columns = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const first = columns.get(name);
    columns.set(name, index);
    if (first === undefined) continue;
    const where = `columns ${first + 1} and ${index + 1}`;
    return {
      line,
      message:
        name === ""
          ? `the header in line ${line} has no names for ${where}`
          : `the header in line ${line} has the name ${quoted(name)} twice, in ${where}`,
      fix: "Give each column a name of its own in the text, or read the rows as lists with header: false.",
    };
  }
  return undefined;
}

function widthIssue(
  rows: readonly Row[],
  width: number,
  { header, isPadded }: { header: boolean; isPadded: boolean },
): CsvIssue | undefined {
  const row = rows.find(({ values }) => (isPadded ? values.length > width : values.length !== width));
  if (row === undefined) return undefined;
  const { line, values } = row;
  const isLonger = values.length > width;
  return {
    line,
    message: `line ${line} has ${counted(values.length)}, but ${header ? "the header in " : ""}line ${rows[0]!.line} has ${width}`,
    fix: isLonger
      ? `Put quotes around values that contain the separator${header ? ', or read the rows as lists with header: false and ragged: "pad"' : ', or set ragged to "pad"'}.`
      : 'Correct the line, or set ragged to "pad": missing values are then null.',
  };
}

/** Separators besides the comma, which a first row with one value may contain. */
const OTHER_SEPARATORS = [";", "\t", "|", ","];

const otherSeparator = (first: Row | undefined): string | undefined =>
  first?.values.length === 1
    ? OTHER_SEPARATORS.find((separator) => first.values[0]!.includes(separator))
    : undefined;

/** The option as expressions write it. */
const separatorFix = (separator: string): string =>
  `Set the option separator: {'separator': '${separator === "\t" ? "\\t" : separator}'}, because the first line contains it.`;

const tooManyAdded = (added: number, width: number, line: number): CsvIssue => ({
  line,
  message: `its rows lack ${added.toLocaleString("en-US")} values of ${width} columns, the maximum is ${MAX_ADDED.toLocaleString("en-US")}`,
  fix: 'Check the separator, or set ragged to "error" to find the first line that lacks values.',
});

const issueAt = (line: number, message: string, fix: string): { issue: CsvIssue } => ({
  issue: { line, message, fix },
});

const counted = (values: number): string => `${values} value${values === 1 ? "" : "s"}`;

const quoted = (value: string): string =>
  JSON.stringify(value.length > MAX_NAME ? `${value.slice(0, MAX_NAME).toWellFormed()}…` : value);

const nextCharacter = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at)!);
