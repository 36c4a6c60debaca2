/** Ends a text with a full stop, unless it already ends a sentence. */
export function endSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…)]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
