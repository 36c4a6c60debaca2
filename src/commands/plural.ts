/** `1 run`, `2 runs`. @param many the plural, if it is not `noun` with an s */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : many}`;
