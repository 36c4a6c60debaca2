/** Where something stands in a definition. */
export type Path = (string | number)[];

/** `steps[2].query` and `steps.revenue.query` in parts. */
export function parsePath(path: string): Path {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

/** What stands at a path of a value. */
export function valueAt(root: unknown, path: Readonly<Path>): unknown {
  let here = root;
  for (const part of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Record<string | number, unknown>)[part];
  }
  return here;
}

/** The value where it is an object, else one without anything. */
export const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
