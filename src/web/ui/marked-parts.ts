/** Splits a text at its `parts in backticks`: ids in the sentences that functions return, and names in the messages of the API. */
export const markedParts = (text: string): { text: string; isMarked: boolean }[] =>
  // Every second part was in backticks.
  text.split(/`([^`\n]+)`/).map((part, index) => ({ text: part, isMarked: index % 2 === 1 }));
