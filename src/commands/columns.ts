/** Lists for a terminal. */

/** Pads the cells of a row so that columns stand below each other. @param rows all of them, the head too */
export function alignColumns(rows: readonly (readonly string[])[]): (row: readonly string[]) => string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd();
}

/** A moment (ISO 8601) to the minute, UTC. */
export const formatTimestamp = (time: string | null): string =>
  time?.slice(0, 16).replace("T", " ") ?? "never";
