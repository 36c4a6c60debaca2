/**
 * Paths such as `event.body.order.id`, which are read when a delivery arrives: listeners evaluate no expressions, and a
 * repeated delivery must be recognized before it is answered.
 */

/** The fields of a form or of a query: text, or a list of texts where the name occurs more than once. */
export type EventFields = Readonly<Record<string, string | string[]>>;

/** What was received, as far as a path can read it. */
export interface ReceivedEvent {
  body: unknown;
  /** Whether the body is the fields of a form. A schema may declare a field as a list that was sent once. */
  isForm?: boolean;
  headers: Readonly<Record<string, string>>;
  query: EventFields;
}

type Root = "body" | "headers" | "query";

export interface EventPath {
  root: Root;
  names: readonly (string | number)[];
}

const START = /^event\.(body|headers|query)/;
const PART = /^(?:\.([A-Za-z_]\w*)|\[(?:"([^"\\]*)"|'([^'\\]*)'|(\d{1,6}))\])/;

/** @returns undefined for any other expression; `${{ }}` around it is ignored */
export function parseEventPath(source: string): EventPath | undefined {
  const text = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(source)?.[1] ?? source;
  const start = START.exec(text.trim());
  if (start === null) return undefined;
  let rest = text.trim().slice(start[0].length);
  const names: (string | number)[] = [];
  while (rest !== "") {
    const part = PART.exec(rest);
    if (part === null) return undefined;
    const [whole, field, double, single, index] = part;
    names.push(index === undefined ? (field ?? double ?? single)! : Number(index));
    rest = rest.slice(whole.length);
  }
  return { root: start[1] as Root, names };
}

const FIELD = /(?<![\w.])event\.(body|query)(?:\.([A-Za-z_]\w*)|\["([^"\\]*)"\]|\['([^'\\]*)'\])/g;

/** Finds the fields of the body and of the query in an expression, such as two of `has(event.body.tag) ? event.body.tag : []`. */
export const eventFieldsIn = (source: string): EventPath[] =>
  Array.from(source.matchAll(FIELD), ([, root, field, double, single]) => ({
    root: root as Root,
    names: [(field ?? double ?? single)!],
  }));

/** Reads a path. @returns undefined where something on it is missing */
export function readEventPath(event: ReceivedEvent, { root, names }: EventPath): unknown {
  let value: unknown = event[root];
  for (const name of names) {
    const isFitting =
      typeof name === "number" ? Array.isArray(value) : typeof value === "object" && value !== null;
    if (!isFitting || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[name];
  }
  return value;
}
