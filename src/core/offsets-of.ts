/** Returns all offsets of a part in a text, in UTF-16 units, also of parts that overlap. */
export function offsetsOf(part: string, text: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) offsets.push(at);
  return offsets;
}
