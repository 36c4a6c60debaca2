/** From all that was found to what is told: in the order of the document, each once, with its place in the text. */
import type { Fault } from "../../../schemas/problem.ts";
import { dotted } from "../../core/faults.ts";
import type { Source } from "./source.ts";
import { type Located, MAX_FAULTS } from "./report.ts";

/**
 * @param inDocument faults of the definition
 * @param beside faults of what was given beside it (inputs, mocks): they have no place in the text, and come last
 */
export async function told(
  inDocument: readonly Located[],
  beside: readonly Located[],
  { value, locate }: Source,
): Promise<Fault[]> {
  const shown = inOrder(distinct(inDocument), value).slice(0, MAX_FAULTS);
  const positions = shown.length > 0 ? await locate?.(shown.map(({ path }) => path)) : undefined;
  const faults = shown.map(({ path, ...fault }, index): Fault =>
    Object.assign({ path: dotted(path) }, fault, positions?.[index]),
  );
  const others = distinct(beside).map(({ path, ...fault }): Fault =>
    Object.assign({ path: dotted(path) }, fault),
  );
  return [...faults, ...others].slice(0, MAX_FAULTS);
}

function distinct(faults: readonly Located[]): Located[] {
  const seen = new Set<string>();
  return faults.filter(({ path, code, message }) => {
    const key = JSON.stringify([path.map(String), code, message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Sorted by where each path stands in the document; what is missing stands where its object begins. */
function inOrder(faults: readonly Located[], document: unknown): Located[] {
  const keys = new WeakMap<object, Map<string, number>>();
  const places = (value: object): Map<string, number> => {
    const found = keys.get(value) ?? new Map(Object.keys(value).map((key, index) => [key, index]));
    keys.set(value, found);
    return found;
  };
  const ranks = new Map(
    faults.map((fault) => {
      const rank: number[] = [];
      let here = document;
      for (const part of fault.path) {
        if (typeof here !== "object" || here === null) break;
        rank.push(places(here).get(String(part)) ?? -1);
        here = (here as Record<PropertyKey, unknown>)[part];
      }
      return [fault, rank];
    }),
  );
  return faults.toSorted((a, b) => compare(ranks.get(a)!, ranks.get(b)!));
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, rank] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (rank !== other) return rank - other;
  }
  return a.length - b.length;
}
