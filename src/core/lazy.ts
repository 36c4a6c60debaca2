/**
 * What is made when it is first asked for, and then kept. For packages that most processes never need: to load them all
 * at the start would double its time and the memory of a listener.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
