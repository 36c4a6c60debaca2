/** The outputs of the last test: what `steps.<id>.` leads to, and how a value is shown in a line. */
import * as texts from "#texts/editor";
import { asObject } from "./path.ts";

/** Outputs by step id. */
export type TestedValues = Readonly<Record<string, unknown>>;

/** Maximum length of a shown value, in characters. */
const MAX_CHARS = 60;

/** @param chain the names behind `steps.`, with indexes: `["revenue", "rows[0]", "region"]` */
export function testedValue(values: TestedValues, chain: readonly string[]): unknown {
  let current: unknown = values;
  for (const part of chain) {
    const [name, ...indexes] = part.split("[");
    const object = asObject(current);
    current = Object.hasOwn(object, name!) ? object[name!] : undefined;
    for (const index of indexes) {
      // `rows[i]` is completed by the first row.
      const at = Number.parseInt(index, 10);
      current = Array.isArray(current) ? (current as unknown[])[Number.isNaN(at) ? 0 : at] : undefined;
    }
  }
  return current;
}

/** The fields of a value, each with its own value as text. */
export const testedFields = (value: unknown): [name: string, shown: string][] =>
  Object.entries(asObject(value))
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .map(([name, field]) => [name, shownValue(field)]);

/** A value in a few words: `"north"`, `42`, `3 items`. */
export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return texts.items({ count: value.length });
  const json = JSON.stringify(value) ?? texts.nothing;
  return json.length <= MAX_CHARS ? json : `${json.slice(0, MAX_CHARS - 1).toWellFormed()}…`;
}
