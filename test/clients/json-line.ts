/** JSON on one line for node:readline, which ends a line at U+2028 and U+2029, too. @returns with the end of the line */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
