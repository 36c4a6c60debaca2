/** The keys and indexes that lead to a value of a definition. */
export type Path = (string | number)[];

/** Splits `steps[2].query` or `steps.revenue.query` into its parts. */
export function parsePath(path: string): Path {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

export function valueAt(root: unknown, path: Readonly<Path>): unknown {
  let current = root;
  for (const part of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = (current as Record<string | number, unknown>)[part];
  }
  return current;
}

/** @returns the value when it is an object; otherwise an empty object */
export const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
