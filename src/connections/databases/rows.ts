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

/** The first name that stands twice. */
export const findDuplicateName = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) < index);
