/** Names of places that differ: paths without indexes, so that one name stands for the place in every item and every run. */

/** Maximum length of a key in a name, in characters: that of the id of a step. A place below a longer one has the name of what holds it. */
const MAX_KEY_CHARS = 64;
/** Maximum length of a name, in characters. */
export const MAX_NAME_CHARS = 200;
/** What can't be in a key, because names join them with dots, and people read them in one line. */
const NOT_IN_KEY = /[.[\]\p{C}\p{Z}]/u;

/** The first keys of names. `definition` is what runs of the past can't show. */
export const NAME_ROOTS = [
  "output",
  "committed",
  "steps",
  "given",
  "definition",
  "error",
  "status",
  "on_failure",
  "not_comparable",
] as const;

/** A name as people may write it: with brackets for all items, or for one, which stands for all. */
export const WRITTEN_NAME = new RegExp(
  String.raw`^(?:${NAME_ROOTS.join("|")})(?:\.[^.[\]\p{C}\p{Z}]+|\[\d*\])*$`,
  "u",
);

/** @param path keys and indexes, the first one being a key such as `output` */
export function differenceName(path: readonly PropertyKey[]): string {
  let name = "";
  for (const part of path) {
    if (typeof part === "number") continue;
    const key = String(part);
    const longer = name === "" ? key : `${name}.${key}`;
    const isNameable = key !== "" && key.length <= MAX_KEY_CHARS && !NOT_IN_KEY.test(key);
    if (!isNameable || longer.length > MAX_NAME_CHARS) break;
    name = longer;
  }
  return name;
}

/** Writes a name as differences have it: without the brackets of indexes, and without the items of a fan-out, which are meant by its step. */
export const normalName = (name: string): string =>
  name.replaceAll(/\[\d*\]/gu, "").replace(/^(steps\.[^.]+)\.items(?=\.|$)/u, "$1");

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
    let depth = 0;
    for (const name of found) depth = Math.max(depth, keysOf(name));
    if (found.size <= limit || depth <= 1) return withoutCovered(found);
    found = new Set([...found].map((name) => (keysOf(name) === depth ? parentOf(name) : name)));
  }
}

const keysOf = (name: string): number => name.split(".").length;

const parentOf = (name: string): string => name.slice(0, name.lastIndexOf("."));

function withoutCovered(names: ReadonlySet<string>): string[] {
  const isHeld = (name: string): boolean => {
    for (let at = name.lastIndexOf("."); at > 0; at = name.lastIndexOf(".", at - 1))
      if (names.has(name.slice(0, at))) return true;
    return false;
  };
  return [...names].filter((name) => !isHeld(name)).toSorted();
}
