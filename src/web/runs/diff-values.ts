/** Compares two JSON values, and names the paths at which they differ. */
import * as texts from "#texts/runs";

interface Difference {
  /** `rows[3].total`; empty for the value itself. */
  path: string;
  /** JSON text, shortened; undefined where there is no value. */
  before: string | undefined;
  after: string | undefined;
}

interface Differences {
  /** The first of them. */
  listed: Difference[];
  /** Number of all, as far as they were counted. */
  total: number;
  /** Whether the comparison ended before the values did. */
  isCapped: boolean;
}

/** Maximum number of differences that are listed. */
const MAX_LISTED = 50;
/** Maximum number of values that are compared, so that a comparison takes a few milliseconds. */
const MAX_COMPARED = 100_000;
/** Maximum length of a value that is shown, in characters of JSON. */
const SHOWN_CHARS = 200;

export function diffValues(before: unknown, after: unknown): Differences {
  const result: Differences = { listed: [], total: 0, isCapped: false };
  let compared = 0;
  const add = (path: string, old: unknown, current: unknown): void => {
    result.total += 1;
    if (result.listed.length < MAX_LISTED)
      result.listed.push({ path, before: shown(old), after: shown(current) });
  };
  const compare = (path: string, old: unknown, current: unknown): void => {
    compared += 1;
    if (compared > MAX_COMPARED) {
      result.isCapped = true;
      return;
    }
    if (Object.is(old, current)) return;
    if (!isObject(old) || !isObject(current) || Array.isArray(old) !== Array.isArray(current))
      return add(path, old, current);
    for (const key of new Set([...Object.keys(old), ...Object.keys(current)])) {
      if (result.isCapped) return;
      compare(pathTo(path, key, Array.isArray(old)), old[key], current[key]);
    }
  };
  compare("", before, after);
  return result;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const pathTo = (path: string, key: string, isIndex: boolean): string =>
  isIndex ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const json = JSON.stringify(value);
  return json.length <= SHOWN_CHARS
    ? json
    : texts.shortened({ text: json.slice(0, SHOWN_CHARS).toWellFormed(), chars: json.length });
}
