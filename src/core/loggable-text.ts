/** Characters that a terminal or a viewer of logs may act upon or hide: control and format characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of a caller as the log may hold it: of limited length, and without characters that do not show. */
export function loggableText(text: string, maxChars: number): string {
  const shown = text.slice(0, maxChars).toWellFormed().replace(INVISIBLE, "\u{FFFD}");
  return text.length > maxChars ? `${shown}… (${text.length} characters)` : shown;
}
