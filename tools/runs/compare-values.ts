/** Compares recorded values of two runs, within limits for the whole comparison. */
import type { ComparedValue } from "../../schemas/run-comparison.ts";
import { nextTurnIfLarge } from "../../src/core/next-turn.ts";
import type { ValueText } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { type Difference, differencesOf } from "../../src/core/value-difference.ts";
import { placeOf } from "./value-place.ts";

/** Maximum number of recorded values that a comparison reads: each takes a query. */
const MAX_READS = 4_000;
/** Maximum length of a value that is read, and of all of them together, in characters of JSON. */
const MAX_READ_CHARS = 4 * 1024 * 1024;
const MAX_READ_TOGETHER = 64 * 1024 * 1024;
/** Maximum length of a value that is compared by field, in characters of JSON: about 15 ms of work. */
const MAX_PARSED_CHARS = 1024 * 1024;
/** Maximum number of pairs of values that are visited for all differences. */
const MAX_VISITED = 4_000_000;
/** Maximum number of differences that are shown of one value. */
const MAX_DIFFERENCES = 20;
/** Maximum length of each value that is shown, and of all of them together with their paths, in characters of JSON. */
const MAX_SHOWN_CHARS = 300;
const MAX_SHOWN_TOGETHER = 100_000;

export interface Sides<T> {
  before: T;
  after: T;
}

type Refs = Pick<ComparedValue, "ref_before" | "ref_after">;

/** What is left of the limits of a comparison. */
export interface Budget {
  reads: number;
  readChars: number;
  visits: number;
  shownChars: number;
  /** Whether everything was compared until now. */
  isComplete: boolean;
}

export const newBudget = (): Budget => ({
  reads: MAX_READS,
  readChars: MAX_READ_TOGETHER,
  visits: MAX_VISITED,
  shownChars: MAX_SHOWN_TOGETHER,
  isComplete: true,
});

/**
 * Compares two recorded values.
 * @param ids the ids of the runs
 * @param refs the references of the values, as `get_run_value` takes them
 * @returns undefined if both are equal, or neither is recorded
 */
export async function compareRecorded(
  runs: Pick<RunReader, "valueText">,
  budget: Budget,
  ids: Sides<string>,
  refs: Sides<string>,
): Promise<ComparedValue | undefined> {
  const bothRefs: Refs = { ref_before: refs.before, ref_after: refs.after };
  if (isUsedUp(budget)) {
    budget.isComplete = false;
    return { total: 0, differences: [], ...bothRefs, left_out: "This value is not compared." };
  }
  budget.reads -= 2;
  const range = { from: 0, chars: MAX_READ_CHARS };
  const [before, after] = await Promise.all([
    runs.valueText(placeOf(ids.before, refs.before)!, range),
    runs.valueText(placeOf(ids.after, refs.after)!, range),
  ]);
  budget.readChars -= (before?.text.length ?? 0) + (after?.text.length ?? 0);
  const isSameText = before?.text === after?.text && before?.chars === after?.chars;
  if (before === undefined || after === undefined) {
    if (isSameText) return undefined;
    delete bothRefs[before === undefined ? "ref_before" : "ref_after"];
  }
  const chars = Math.max(before?.chars ?? 0, after?.chars ?? 0);
  if (isSameText && chars <= MAX_READ_CHARS) return undefined;
  if (chars > MAX_PARSED_CHARS) return compareTexts(budget, { before, after }, bothRefs, isSameText);
  const parsed: Sides<unknown> = { before: undefined, after: undefined };
  for (const [side, value] of [["before", before] as const, ["after", after] as const]) {
    if (value === undefined) continue;
    await nextTurnIfLarge(chars);
    parsed[side] = JSON.parse(value.text);
  }
  await nextTurnIfLarge(chars);
  return compareGiven(budget, parsed, bothRefs);
}

/** Whether no further value is read. */
export const isUsedUp = ({ reads, readChars }: Budget): boolean =>
  reads < 2 || readChars < 2 * MAX_READ_CHARS;

/** Shows texts that are too long to be compared by field as one difference. @param isSame whether what was read of them is equal */
function compareTexts(
  budget: Budget,
  { before, after }: Sides<ValueText | undefined>,
  refs: Refs,
  isSame: boolean,
): ComparedValue {
  if (isSame) {
    budget.isComplete = false;
    const left = `Only the first ${MAX_READ_CHARS} characters of these values are compared: they are equal.`;
    return { total: 0, differences: [], ...refs, left_out: left };
  }
  const difference = {
    path: "",
    ...(before !== undefined && { before: truncated(before.text, before.chars, refs.ref_before) }),
    ...(after !== undefined && { after: truncated(after.text, after.chars, refs.ref_after) }),
  };
  const left = `Values with more than ${MAX_PARSED_CHARS} characters of JSON are compared as texts, not by field.`;
  return { total: 1, differences: [difference], ...refs, left_out: left };
}

/**
 * Compares two values.
 * @param refs the references of those that are recorded
 * @returns undefined if both are equal
 */
export function compareGiven(
  budget: Budget,
  { before, after }: Sides<unknown>,
  refs: Refs = {},
): ComparedValue | undefined {
  // Neither run has the value, whatever is left of the limits.
  if (before === undefined && after === undefined) return undefined;
  const found = differencesOf(before, after, { limit: MAX_DIFFERENCES, maxVisited: budget.visits });
  budget.visits -= found.visited;
  if (!found.isComplete) budget.isComplete = false;
  if (found.total === 0 && found.isComplete) return undefined;
  const differences: ComparedValue["differences"] = [];
  for (const difference of found.differences) {
    const rendered = render(difference, refs);
    const { length } = JSON.stringify(rendered);
    if (length > budget.shownChars) break;
    budget.shownChars -= length;
    differences.push(rendered);
  }
  const hidden = found.total - differences.length;
  const leftOut = [
    ...(hidden > 0
      ? [`${hidden} more ${hidden === 1 ? "difference is" : "differences are"} not shown.`]
      : []),
    ...(found.isComplete ? [] : ["The rest of these values is not compared: they have too many parts."]),
  ];
  return {
    total: found.total,
    differences,
    ...refs,
    ...(leftOut.length > 0 && { left_out: [...leftOut, ...seeWhole(refs)].join(" ") }),
  };
}

const seeWhole = (refs: object): string[] =>
  Object.keys(refs).length > 0 ? ["get_run_value returns the whole values."] : [];

function render({ path, ...values }: Difference, refs: Refs): ComparedValue["differences"][number] {
  return {
    path: writePath(path),
    ...("before" in values && { before: shorten(values.before, refs.ref_before) }),
    ...("after" in values && { after: shorten(values.after, refs.ref_after) }),
  };
}

function shorten(value: unknown, ref: string | undefined): unknown {
  const json = JSON.stringify(value);
  return json.length <= MAX_SHOWN_CHARS ? value : truncated(json, json.length, ref);
}

const truncated = (json: string, chars: number, ref: string | undefined) => ({
  truncated: true,
  chars,
  preview: json.slice(0, MAX_SHOWN_CHARS).toWellFormed(),
  ...(ref !== undefined && { ref }),
});

/** Whether a difference was found, not only something that was not compared. */
export const isDifferent = (value: ComparedValue | undefined): boolean =>
  value !== undefined && value.total > 0;

/** Writes a path as expressions do; a key that is no name stands in brackets: `rows[0]["unit price"]`. */
const writePath = (path: readonly PropertyKey[]): string =>
  path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      const key = String(part);
      return /^[A-Za-z_]\w*$/.test(key) ? `${index === 0 ? "" : "."}${key}` : `[${JSON.stringify(key)}]`;
    })
    .join("");
