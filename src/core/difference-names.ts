/** Names of places that differ: paths without indexes, so that one name stands for the place in every item and every run. */

/** Maximum length of a key in a name, in characters. A place below a longer one has the name of what holds it. */
const MAX_KEY_CHARS = 60;
/** Maximum number of keys in a name. */
const MAX_KEYS = 10;
/** What can't be in a key, because names join them with dots, and people read them in one line. */
const NOT_IN_KEY = /[.[\]\p{C}\p{Z}]/u;

/** @param path keys and indexes, the first one being a key such as `output` */
export function differenceName(path: readonly PropertyKey[]): string {
  const keys: string[] = [];
  for (const part of path) {
    if (typeof part === "number") continue;
    const key = String(part);
    if (keys.length === MAX_KEYS || key === "" || key.length > MAX_KEY_CHARS || NOT_IN_KEY.test(key)) break;
    keys.push(key);
  }
  return keys.join(".");
}

/** Writes a name as `differenceName` does: without the brackets of indexes. */
export const normalName = (name: string): string => name.replaceAll(/\[[^\]]*\]/gu, "");

/** Which of others a name is, or is of a place in. @param others normal names @returns undefined for none of them */
export const coveringName = (name: string, others: readonly string[]): string | undefined =>
  others.find((other) => name === other || name.startsWith(`${other}.`));

/**
 * Shortens names until there are few of them: the longest ones first, each to the place that holds it.
 * @returns at most `limit` names, if so few places hold all; each given name is covered by one of them
 */
export function fewNames(names: Iterable<string>, limit: number): string[] {
  let found = new Set(names);
  for (;;) {
    const depth = Math.max(0, ...[...found].map(keysOf));
    if (found.size <= limit || depth <= 1) return withoutCovered([...found].toSorted());
    found = new Set([...found].map((name) => (keysOf(name) === depth ? parentOf(name) : name)));
  }
}

const keysOf = (name: string): number => name.split(".").length;

const parentOf = (name: string): string => name.slice(0, name.lastIndexOf("."));

const withoutCovered = (names: readonly string[]): string[] =>
  names.filter((name) => !names.some((other) => name.startsWith(`${other}.`)));
