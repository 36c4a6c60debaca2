/** Finds where a value came from: the outputs of the earlier steps of a trail, by the values in them. */
import { canonicalJson } from "../../src/core/canonical-json.ts";

/** Maximum number of values of one output that are indexed; the outermost come first. */
const MAX_VALUES = 20_000;
/** Maximum number of items of a list that are indexed one by one. */
const MAX_ITEMS = 50;
/** Maximum number of places that are remembered for one value. */
const MAX_PLACES = 5;
/** Maximum number of values that are searched for inside a text. */
const MAX_SEARCHED = 2_000;
/** Minimum length of a text that is found by its value alone, in characters. */
const MIN_TEXT = 4;
/** The smallest integer that is found by its value alone: smaller ones are often the same by chance. */
const MIN_INTEGER = 100;
/** Minimum length of a text, and of JSON, that is found inside another text, in characters. */
const MIN_INNER_TEXT = 6;
const MIN_INNER_JSON = 12;

/** A place in the output of a step. */
export interface Place {
  /** The step, by its id in the workflow. */
  stepId: string;
  /** The expression that reads it: `steps.orders.rows[0].id`. */
  expression: string;
  /** The name of the field, or of the list that it is an item of; undefined for a whole output. */
  name: string | undefined;
  value: unknown;
  /** Whether it is one item of a list of several, so that its index is a guess. */
  isOneOfMany: boolean;
  /** Whether it is the list of one field of a list: its items have places of their own. */
  isColumn?: true;
}

const IDENTIFIER = /^[A-Za-z_]\w*$/;
const member = (name: string): string => (IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

export interface TrailValues {
  /** Adds the output of a step. A value that several outputs have is found in the newest one. */
  add(stepId: string, output: unknown): void;
  /**
   * Finds a value. Short texts, small numbers and booleans are found only where the names agree.
   * @param name the name of the field that has the value
   */
  find(value: unknown, name: string | undefined): Place | undefined;
  /** Finds the values inside a text, the longest first, without overlaps. */
  findWithin(text: string): { place: Place; written: string }[];
}

export function trailValues(): TrailValues {
  const places = new Map<string, Place[]>();
  const inner: Place[] = [];

  function add(stepId: string, output: unknown): void {
    const queue: Place[] = [
      { stepId, expression: `steps.${stepId}`, name: undefined, value: output, isOneOfMany: false },
    ];
    for (let at = 0; at < queue.length && at < MAX_VALUES; at += 1) {
      const place = queue[at]!;
      // The whole output has more fields in a workflow, such as its status.
      if (at > 0) remember(place);
      queue.push(...placesIn(place));
    }
  }

  function remember(place: Place): void {
    const key = canonicalJson(place.value);
    const known = places.get(key) ?? [];
    // The newest step is the likeliest source.
    const newest = known[0]?.stepId === place.stepId ? [...known, place] : [place, ...known];
    places.set(key, newest.slice(0, MAX_PLACES));
    if (inner.length < MAX_SEARCHED && isFoundWithin(place.value)) inner.push(place);
  }

  return {
    add,
    find(value, name) {
      const found = places.get(canonicalJson(value)) ?? [];
      const isWord = typeof value === "number" || (typeof value === "string" && value !== "");
      const named = isWord ? found.find((place) => namesAgree(name, place)) : undefined;
      return named ?? (isTelling(value) ? found[0] : undefined);
    },
    findWithin(text) {
      const found: { place: Place; written: string; from: number }[] = [];
      const candidates = inner
        .flatMap((place) => writtenForms(place.value).map((written) => ({ place, written })))
        .toSorted((a, b) => b.written.length - a.written.length);
      for (const { place, written } of candidates) {
        const from = indexOfWord(text, written);
        const overlaps = (other: { from: number; written: string }): boolean =>
          from < other.from + other.written.length && other.from < from + written.length;
        if (from >= 0 && !found.some(overlaps)) found.push({ place, written, from });
      }
      return found;
    },
  };
}

/** The values directly inside a value; of a list of objects also the lists of single fields. */
function placesIn({ stepId, expression, name, value, isOneOfMany, isColumn }: Place): Place[] {
  if (isColumn === true) return [];
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item: unknown, index): Place => ({
      stepId,
      expression: `${expression}[${index}]`,
      name,
      value: item,
      isOneOfMany: isOneOfMany || value.length > 1,
    }));
    return [...columnsOf({ stepId, expression, name, value, isOneOfMany }), ...items];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([key, inner]) => ({
    stepId,
    expression: expression + member(key),
    name: key,
    value: inner,
    isOneOfMany,
  }));
}

/** The lists of single fields of a list of objects: `rows.map(r, r.id)`. */
function columnsOf({ stepId, value, expression, isOneOfMany }: Place): Place[] {
  const rows = value as readonly unknown[];
  const [first] = rows;
  if (rows.length < 2 || typeof first !== "object" || first === null || Array.isArray(first)) return [];
  const names = Object.keys(first).filter((key) =>
    rows.every((row) => typeof row === "object" && row !== null && Object.hasOwn(row, key)),
  );
  return names.map((key) => ({
    stepId,
    expression: `${expression}.map(r, r${member(key)})`,
    name: key,
    value: rows.map((row) => (row as Readonly<Record<string, unknown>>)[key]),
    isOneOfMany,
    isColumn: true,
  }));
}

/** Whether two fields have the same name, or one names what the other is of: `customer_id` and `id`. */
function namesAgree(name: string | undefined, place: Place): boolean {
  const [one, other] = [name?.toLowerCase(), place.name?.toLowerCase()];
  if (one === undefined || other === undefined) return false;
  return one === other || one.endsWith(`_${other}`) || other.endsWith(`_${one}`);
}

/** Whether a value is hardly the same by chance. */
function isTelling(value: unknown): boolean {
  if (typeof value === "string") return value.trim().length >= MIN_TEXT && !isDate(value);
  if (typeof value === "number") return !Number.isInteger(value) || Math.abs(value) >= MIN_INTEGER;
  if (Array.isArray(value)) return value.length > 1 || value.some(isTelling);
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A date is more often a parameter of its own. */
export const isDate = (value: string): boolean =>
  /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/.test(value);

function isFoundWithin(value: unknown): boolean {
  if (typeof value === "string") return value.trim().length >= MIN_INNER_TEXT && !isDate(value);
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) >= MIN_INTEGER * 10;
  return typeof value === "object" && value !== null && JSON.stringify(value).length >= MIN_INNER_JSON;
}

/** How a program or a model writes a value into a text. */
function writtenForms(value: unknown): string[] {
  if (typeof value === "string") return [value];
  const compact = JSON.stringify(value);
  if (typeof value !== "object") return [compact];
  return [compact, JSON.stringify(value, null, 2), spaced(value)];
}

/** JSON with a blank after each comma and colon, as Python writes it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`)
    .join(", ")}}`;
}

/** Whether two characters side by side belong to one word. */
const joins = (a: string, b: string): boolean => /\w/.test(a) && /\w/.test(b);

/** Where a text contains another one that is not a part of a longer word; -1 for nowhere. */
function indexOfWord(text: string, word: string): number {
  for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + 1)) {
    const [before, after] = [text[from - 1] ?? " ", text[from + word.length] ?? " "];
    if (!joins(before, word[0]!) && !joins(word.at(-1)!, after)) return from;
  }
  return -1;
}
