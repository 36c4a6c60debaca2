/** Markdown out of data. */

/** A cell's text: no line ends, and bars that do not end it. */
export const escapeCell = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();

/** A table, as Prettier writes it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(escapeCell));
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((text, column) => text.padEnd(widths[column]!)).join(" | ")} |`;
  const [first, ...rest] = all;
  return [line(first!), line(widths.map((width) => "-".repeat(width))), ...rest.map(line)].join("\n");
}

/** Says that a page is made, and from what. */
export const generatedNotice = (from: string): string =>
  `<!-- Made by \`npm run generate\` from ${from}. Change that, not this page. -->`;
