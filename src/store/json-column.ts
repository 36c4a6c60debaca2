/** Columns that hold JSON text, or null. */

/** The value of a JSON column. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the column determines the type of its JSON
export const parseJson = <T>(column: string | null): T | null =>
  column === null ? null : (JSON.parse(column) as T);

/** The text to store for a value; null for null and undefined. */
export const jsonText = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
