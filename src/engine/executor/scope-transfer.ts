/**
 * Passes the values that an expression reads to the thread that evaluates it. They are sent as text, which is faster than a
 * structured clone, and only when the thread asks for them: it keeps those that many evaluations read, such as the output
 * of a step that all items of a fan-out read.
 */
import { setImmediate } from "node:timers/promises";
import { type Compiled, OTHER_FIELDS_NULL, type Scope } from "../definition/expressions/index.ts";

/** A value of the scope: `inputs`, or the output of one step. */
export interface ScopePart {
  name: string;
  stepId?: string;
  /** Identifies an object that the thread may have, or asks for. */
  key?: number;
  /** A value that is no object. */
  value?: unknown;
}

/** Gives each object a number of its own. */
export function objectKeys(): (value: object) => number {
  const keys = new WeakMap<object, number>();
  let last = 0;
  return (value) => {
    const known = keys.get(value);
    if (known !== undefined) return known;
    last += 1;
    keys.set(value, last);
    return last;
  };
}

/** Returns the parts of a scope that an expression reads, and their objects by key. */
export function partsOf(
  { names, stepIds }: Compiled,
  scope: Scope,
  keyOf: (value: object) => number,
): { parts: ScopePart[]; objects: ReadonlyMap<number, object> } {
  const objects = new Map<number, object>();
  const part = (place: Pick<ScopePart, "name" | "stepId">, value: unknown): ScopePart => {
    if (typeof value !== "object" || value === null) return { ...place, value };
    const key = keyOf(value);
    objects.set(key, value);
    return { ...place, key };
  };
  const values = scope as unknown as Readonly<Record<string, unknown>>;
  const parts = [
    ...[...names].filter((name) => Object.hasOwn(scope, name)).map((name) => part({ name }, values[name])),
    ...[...stepIds]
      .filter((stepId) => Object.hasOwn(scope.steps, stepId))
      .map((stepId) => part({ name: "steps", stepId }, scope.steps[stepId])),
  ];
  return { parts, objects };
}

/** Makes a scope of parts whose objects are known. */
export function scopeOf(parts: readonly ScopePart[], objects: ReadonlyMap<number, unknown>): Scope {
  const steps: Record<string, unknown> = {};
  const scope: Record<string, unknown> = { inputs: {}, run: {}, steps };
  for (const { name, stepId, key, value } of parts) {
    const found = key === undefined ? value : objects.get(key);
    if (stepId === undefined) scope[name] = found;
    else steps[stepId] = found;
  }
  return scope as unknown as Scope;
}

/** A value as text. JSON can't hold the mark of an object whose other fields are null, so its paths are beside it. */
interface SentValue {
  value: unknown;
  otherFieldsNull: (readonly (string | number)[])[];
}

/** Length of text that is written without a pause, in characters: some milliseconds of work. */
const MAX_PIECE_LENGTH = 1_000_000;
/** Number of items of a list that are written without a pause. */
const PIECE_ITEMS = 500;

/** Writes a value as text for `parseSent`, without blocking the event loop: it may be as large as a run's outputs. */
export async function writeSent(value: object): Promise<string> {
  let unpaused = 0;
  const pieces: string[] = [];
  const add = async (piece: string): Promise<void> => {
    pieces.push(piece);
    unpaused += piece.length;
    if (unpaused < MAX_PIECE_LENGTH) return;
    unpaused = 0;
    await setImmediate();
  };
  async function addList(list: readonly unknown[]): Promise<void> {
    await add("[");
    for (let from = 0; from < list.length; from += PIECE_ITEMS)
      await add(
        `${from === 0 ? "" : ","}${JSON.stringify(list.slice(from, from + PIECE_ITEMS)).slice(1, -1)}`,
      );
    await add("]");
  }
  pieces.push('{"value":');
  if (Array.isArray(value)) {
    await addList(value as unknown[]);
  } else {
    let separator = "{";
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      await add(`${separator}${JSON.stringify(name)}:`);
      separator = ",";
      if (Array.isArray(field)) await addList(field as unknown[]);
      else await add(JSON.stringify(field));
    }
    pieces.push(separator === "{" ? "{}" : "}");
  }
  pieces.push(`,"otherFieldsNull":${JSON.stringify(markedPaths(value))}}`);
  return pieces.join("");
}

/** The fields besides `items` that can have the mark. */
const MARKED_FIELDS = ["last", "headers", "query"];

const isMarked = (value: unknown): boolean =>
  typeof value === "object" && value !== null && OTHER_FIELDS_NULL in value;

/**
 * The outputs of steps have the mark, and so have those of the items of a fan-out, and the last iteration; of an event, its
 * headers and its query.
 */
function markedPaths(value: object): SentValue["otherFieldsNull"] {
  const paths: (string | number)[][] = isMarked(value) ? [[]] : [];
  const { items, ...others } = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(items)) items.forEach((item, index) => isMarked(item) && paths.push(["items", index]));
  for (const name of MARKED_FIELDS) if (isMarked(others[name])) paths.push([name]);
  return paths;
}

export function parseSent(text: string): unknown {
  const { value, otherFieldsNull } = JSON.parse(text) as SentValue;
  for (const path of otherFieldsNull) {
    let marked = value as Record<PropertyKey, unknown>;
    for (const name of path) marked = marked[name] as Record<PropertyKey, unknown>;
    marked[OTHER_FIELDS_NULL] = true;
  }
  return value;
}
