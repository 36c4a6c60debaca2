/**
 * Writes rows as CSV (RFC 4180), for attachments of mails and for what the web interface saves.
 *
 * For a spreadsheet the text begins with a byte order mark, without which Excel reads UTF-8 as the code page of the machine, and no cell is
 * a formula. Spreadsheets evaluate a cell that begins with a sign, which can send the contents of the sheet to an attacker; such a cell
 * gets an apostrophe in front, as OWASP advises. Numbers stay as they are, also those that are texts with all digits.
 *
 * For a program the text is nothing but the values: `parseCsv` reads the same ones.
 */

/** The characters that can be between values. */
export const CSV_SEPARATORS = [",", ";", "\t"] as const;

export interface CsvFormat {
  /** What opens the file. */
  for?: "spreadsheet" | "program" | undefined;
  separator?: (typeof CSV_SEPARATORS)[number] | undefined;
  /** Whether the text follows another one in the same file. */
  continues?: boolean | undefined;
}

type Row = Readonly<Record<string, unknown>>;

/** A value as the text of a cell: objects as JSON, null as an empty text. */
export const cellText = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** @param columns the names of the columns, in their order */
export const rowsToCsv = (rows: readonly Row[], columns: readonly string[], format?: CsvFormat): string =>
  csvText(
    [
      columns,
      ...rows.map((row) => columns.map((name) => (Object.hasOwn(row, name) ? cellText(row[name]) : ""))),
    ],
    format,
  );

export function csvText(
  lines: readonly (readonly string[])[],
  { for: reader = "spreadsheet", separator = ",", continues = false }: CsvFormat = {},
): string {
  const isForPeople = reader === "spreadsheet";
  const written = lines.map((line) => {
    const cells = isForPeople ? line.map((cell) => guarded(cell, separator)) : line;
    return `${lineOf(cells, separator)}\r\n`;
  });
  if (continues) return written.join("");
  // Readers that know this line would take such a cell for one.
  const directive = !isForPeople && /^sep=/i.test(lines[0]?.[0] ?? "") ? `sep=${separator}\r\n` : "";
  return `${isForPeople ? "\uFEFF" : directive}${written.join("")}`;
}

/**
 * The beginning of a cell that a spreadsheet may take for a formula: a sign, in each of its widths, also after what a spreadsheet may
 * leave out. What follows the sign matters only for parts of a text, where `;-)` is none.
 */
const SIGN = "=+\\-@＝﹦⁼₌＋﹢⁺₊－﹣⁻₋−＠﹫";
const LEFT_OUT = '[\\s\\p{C}"]*';
const FORMULA = new RegExp(`^${LEFT_OUT}[${SIGN}]`, "u");
const PART_OF_FORMULA = new RegExp(
  `^${LEFT_OUT}[${SIGN}][\\s\\p{C}${SIGN}]*[\\p{L}\\p{N}("'{[$#\\\\_.]`,
  "u",
);
/** A control character in front, which spreadsheets may leave out or treat as the end of a cell; the line that names a separator. */
const SPECIAL = /^(?:\p{Cc}|sep=)/iu;
/** A number with a sign, in the forms of several languages, or a telephone number: digits alone are no formula. */
const NUMBER = /^[+\-−]\s?(?:\d+(?:[.,'\u00A0\u202F ]\d+)*[.,]?|[.,]\d+)(?:e[+-]?\d+)?\s?%?$/i;
const isNumber = (text: string): boolean => NUMBER.test(text.trim());
/** Where a reader that expects another separator, or ignores quotes, begins a new cell. */
const CELL_ENDS = { ",": /([;\t\r\n])/, ";": /([,\t\r\n])/, "\t": /([,;\r\n])/ } as const;

function guarded(cell: string, separator: keyof typeof CELL_ENDS): string {
  const isFormula = SPECIAL.test(cell) || (FORMULA.test(cell) && !isNumber(cell));
  const parts = cell.split(CELL_ENDS[separator]);
  for (const [index, part] of parts.entries())
    if (index > 0 && PART_OF_FORMULA.test(part) && !isNumber(part)) parts[index] = `'${part}`;
  return `${isFormula ? "'" : ""}${parts.join("")}`;
}

// An empty line would be no row.
const lineOf = (line: readonly string[], separator: string): string =>
  line.length === 1 && line[0] === "" ? '""' : line.map((cell) => quoted(cell, separator)).join(separator);

const quoted = (cell: string, separator: string): string =>
  /["\r\n]|^\s|\s$/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell;
