/** Cuts a text of a caller that a message shows. @param maxLength in characters, without the ellipsis */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
