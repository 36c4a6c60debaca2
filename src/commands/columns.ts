/** Tables for a terminal. */

/** Returns a function that pads the cells of a row, so that columns are aligned. @param rows all rows, with the head */
export function alignColumns(rows: readonly (readonly string[])[]): (row: readonly string[]) => string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
}

/** Formats an ISO 8601 time to the minute, in UTC. */
export const formatTimestamp = (time: string | null): string =>
  time?.slice(0, 16).replace("T", " ") ?? "never";
