/**
 * Whether a value has more JSON than a limit, without writing it: the text of a few defaults, repeated for each item of a
 * list, can be longer than any string. Characters that JSON escapes count once.
 * @param maxChars in characters
 */
export function exceedsJsonSize(value: unknown, maxChars: number): boolean {
  let size = 0;
  const queue: unknown[] = [value];
  while (queue.length > 0 && size <= maxChars) {
    const next = queue.pop();
    if (typeof next === "string") size += next.length + 2;
    else if (typeof next !== "object" || next === null) size += 4;
    else {
      size += 2;
      for (const [key, inner] of Object.entries(next)) {
        size += Array.isArray(next) ? 1 : key.length + 4;
        queue.push(inner);
      }
    }
  }
  return size > maxChars;
}
