/** So many of something, for people. @param many where it is not `noun` with an s */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;
