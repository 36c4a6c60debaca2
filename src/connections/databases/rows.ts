/** Rows up to a bound. (Children load this file: it imports no values.) */

export interface RowLimits {
  maxRows: number;
  /** Of the rows as JSON. */
  maxBytes: number;
  /** Whether a statement that writes is committed although rows that it returns are left out. */
  keepTruncated?: boolean;
}

/** Whether a statement that writes must be rolled back, because not all its rows can be returned. */
export const mustRollBack = ({ truncated }: { truncated: boolean }, { keepTruncated }: RowLimits): boolean =>
  truncated && keepTruncated !== true;

export interface RowCollector {
  rows: Record<string, unknown>[];
  truncated: boolean;
  /** Adds a row; returns false if it exceeds the limit and no more rows are needed. */
  add(values: readonly unknown[]): boolean;
}

/** @param names of the columns, no two the same */
export function createRowCollector(names: readonly string[], { maxRows, maxBytes }: RowLimits): RowCollector {
  let bytes = 2;
  const collected: RowCollector = {
    rows: [],
    truncated: false,
    add(values) {
      const row = Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
      if (collected.rows.length < maxRows) {
        bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
        if (bytes <= maxBytes) {
          collected.rows.push(row);
          return true;
        }
      }
      collected.truncated = true;
      return false;
    },
  };
  return collected;
}

/** Maximum size of the texts of rows that can't be converted yet, in characters. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024;

/** Keeps rows as they were received, until what is needed to convert them is known. */
export function createTextRows({ maxRows }: RowLimits): {
  rows: (string | null)[][];
  truncated: boolean;
  /** Adds a row; returns false if no more are needed. */
  add(row: (string | null)[]): boolean;
} {
  let chars = 0;
  const waiting = {
    rows: [] as (string | null)[][],
    truncated: false,
    add(row: (string | null)[]) {
      // A row beyond the limit shows that rows are left out.
      if (waiting.rows.length > maxRows) return false;
      chars += row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      waiting.truncated = chars > MAX_WAITING_CHARS;
      if (!waiting.truncated) waiting.rows.push(row);
      return !waiting.truncated;
    },
  };
  return waiting;
}

/** The first name that stands twice. */
export const findDuplicateName = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) < index);
