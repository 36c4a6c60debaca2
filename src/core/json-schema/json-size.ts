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
    else if (Array.isArray(next)) {
      size += 2 + next.length;
      for (const inner of next) queue.push(inner);
    } else {
      size += 2;
      for (const key in next) {
        size += key.length + 4;
        queue.push((next as Record<string, unknown>)[key]);
      }
    }
  }
  return size > maxChars;
}

interface Size {
  values: number;
  /** Characters of text, keys included. */
  chars: number;
}

/** Measures a JSON value; undefined if it has more values or characters than `max`. */
export function sizeUpTo(value: unknown, max: number): Size | undefined {
  const size: Size = { values: 0, chars: 0 };
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const next = stack.pop();
    size.values += 1;
    if (typeof next === "string") size.chars += next.length;
    else if (Array.isArray(next)) {
      if (next.length > max) return undefined;
      for (const item of next) stack.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const key in next) {
        size.chars += key.length;
        size.values += 1;
        stack.push((next as Record<string, unknown>)[key]);
        if (size.values > max) return undefined;
      }
    }
    if (size.values > max || size.chars > max) return undefined;
  }
  return size;
}
