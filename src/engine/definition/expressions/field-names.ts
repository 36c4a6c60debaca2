/** Fields whose names are no names in CEL, such as `größe`, `Kunde Nr` and `my-field`, as expressions read them after a dot. */
import { lazy } from "../../../core/lazy.ts";
import type { Shape } from "../../../core/shapes.ts";
import type { TypeScope } from "./types.ts";

/** Maximum number of types that are searched for names, and of names. */
const MAX_TYPES = 20_000;
const MAX_NAMES = 1_000;
/** Maximum number of expressions of a value in which names are replaced: each is searched for all names. */
const MAX_SEARCHED = 20;
/** Maximum number of blanks between a dot and a name. */
const MAX_BLANKS = 100;

/** A name as it is written after a dot, and what is written for the dot and the name. */
type DottedName = readonly [written: string, replacement: string];

/** Returns the names that expressions of one value may mean; none once that many expressions were searched. */
export type DottedNames = () => readonly DottedName[];

const isName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text);

/** How a field is read whose name is no name in CEL. */
export const inBrackets = (name: string): string => `[${JSON.stringify(name)}]`;

/** The names of all fields in a scope that are no names in CEL, and ids of steps written with `-`. */
export function dottedNamesOf(scope: TypeScope): DottedNames {
  const names = lazy(() => collectNames(scope));
  let remaining = MAX_SEARCHED;
  return () => (remaining-- > 0 ? names() : []);
}

function collectNames(scope: TypeScope): readonly DottedName[] {
  const { inputs, run, steps, state, item, loop, result, output, event } = scope;
  const found = new Map<string, string>();
  const types = [inputs, run, ...Object.values(steps), state, item, loop, result, output, event].filter(
    (type) => type !== undefined,
  );
  for (let at = 0; at < Math.min(types.length, MAX_TYPES) && found.size < MAX_NAMES; at += 1)
    types.push(...partsOf(types[at]!, (name) => found.set(name, inBrackets(name))));
  for (const id of [...Object.keys(steps), ...scope.otherSteps].slice(0, MAX_NAMES))
    if (id.includes("_")) found.set(id.replaceAll("_", "-"), `.${id}`);
  // The longest name is meant where one begins with another.
  return [...found].toSorted(([one], [other]) => other.length - one.length);
}

/** The types in a type. @param onName is called with each name that is none in CEL */
function partsOf(type: Shape, onName: (name: string) => void): Shape[] {
  if (type.kind === "list" || type.kind === "map") return [type.of];
  if (type.kind !== "object") return [];
  for (const name of Object.keys(type.fields)) if (!isName(name) && /[^\s\d]/.test(name)) onName(name);
  return [...Object.values(type.fields), ...(type.others === undefined ? [] : [type.others])];
}

/**
 * Replaces the names after dots.
 * @param code an expression without texts in quotes
 * @param keep returns what stands for a replacement, so that nothing in it is translated
 */
export function replaceDottedNames(
  code: string,
  names: readonly DottedName[],
  keep: (replacement: string) => string,
): string {
  let replaced = "";
  let at = 0;
  for (let dot = code.indexOf("."); dot >= 0 && names.length > 0; dot = code.indexOf(".", dot + 1)) {
    const start = dot + 1 + /^\s*/.exec(code.slice(dot + 1, dot + 1 + MAX_BLANKS))![0].length;
    const found = dot < at ? undefined : names.find(([written]) => hasNameAt(code, start, written));
    if (found === undefined) continue;
    replaced += code.slice(at, dot) + keep(found[1]);
    at = start + found[0].length;
  }
  return replaced + code.slice(at);
}

const hasNameAt = (code: string, at: number, name: string): boolean =>
  code.startsWith(name, at) &&
  !/^[\p{L}\p{M}\p{N}_]/u.test(code.slice(at + name.length, at + name.length + 2));

/** A name that CEL does not read, after a value: it begins with a digit or a sign, or has letters beyond ASCII. */
const UNREADABLE =
  /(?<=[\])]|[\p{L}_][\p{L}\p{M}\p{N}_]*)(?<!\bsteps)\s*\.\s*((?![A-Za-z_]\w*(?![\p{L}\p{M}\p{N}_])|\d+(?![\p{L}\p{M}\p{N}_]))[@$#]?[\p{L}\p{M}\p{N}_]+)/gu;

/** Replaces names after dots that CEL reads in no way, whether a field of that name is known or not. */
export const replaceUnreadableNames = (code: string, keep: (replacement: string) => string): string =>
  code.replaceAll(UNREADABLE, (_, name: string) => keep(inBrackets(name)));

/** The name with `-` that ends with the word at `start`, such as `my-field`; undefined if no `-` joins it to a field. */
export const hyphenatedName = (source: string, start: number, end: number): string | undefined =>
  /\.\s*([A-Za-z_]\w*(?:-\w+)*-)$/.exec(source.slice(0, start))?.[1]?.concat(source.slice(start, end));
