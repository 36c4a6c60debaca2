/**
 * Returns a function that creates its value at the first call. For packages that most processes never use: loading all of
 * them at start-up would double its duration and the memory of a listener.
 */
export function lazy<T>(create: () => T): () => T {
  let created: { value: T } | undefined;
  return () => (created ??= { value: create() }).value;
}
