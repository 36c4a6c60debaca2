/** Truncates values to a size that a model can read, with a reference to the whole value. */
import type { RunError } from "../../schemas/run.ts";
import type { ValueText } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { shortenLists } from "./shorten-lists.ts";

/** Maximum size of a value that is parsed to shorten its lists, in characters of JSON: about two milliseconds of work. */
const MAX_PARSED_CHARS = 262_144;
/** From this size on a preview has room for the first items of a list, in characters. */
const MIN_LIST_PREVIEW = 500;

interface TruncatedValue {
  truncated: true;
  chars: number;
  /** JSON with shortened lists where `lists` names them, else the start of the text. */
  preview: string;
  /** The lists of which the preview has only the first items, by their path, with their full length. */
  lists?: Record<string, number>;
  ref: string;
}

/**
 * Reads a recorded value: the value itself, or if it is longer than `max` characters of JSON a preview: with the first items
 * of its lists if that is enough to shorten it, else its start.
 * @param ref the reference that `get_run_value` takes
 * @returns undefined when there is no such value
 */
export async function truncateValue(
  runs: Pick<RunReader, "valueText">,
  at: Parameters<RunReader["valueText"]>[0],
  ref: string,
  max: number,
): Promise<unknown> {
  const value = await runs.valueText(at, { from: 0, chars: max });
  if (value === undefined) return undefined;
  const { text, chars } = value;
  if (chars <= max) return JSON.parse(text);
  const shortened = await shortenedValue(runs, at, value, max);
  return {
    truncated: true,
    chars,
    ...(shortened ?? { preview: text.slice(0, max).toWellFormed() }),
    ref,
  } satisfies TruncatedValue;
}

async function shortenedValue(
  runs: Pick<RunReader, "valueText">,
  at: Parameters<RunReader["valueText"]>[0],
  { text, chars }: ValueText,
  max: number,
): Promise<Pick<TruncatedValue, "preview" | "lists"> | undefined> {
  if (max < MIN_LIST_PREVIEW || chars > MAX_PARSED_CHARS || !/^[[{]/.test(text)) return undefined;
  const whole = await runs.valueText(at, { from: 0, chars });
  return whole && shortenLists(JSON.parse(whole.text), max);
}

export const isTruncated = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "truncated" in value && "ref" in value && "preview" in value;

/** Truncates a text that is not recorded elsewhere, so that it has no reference. */
export function truncateText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}… (${text.length} characters)`;
}

/** Truncates an error to about `max` characters. */
export function truncateError(error: RunError, max: number): RunError {
  const { message, fix, details, ...rest } = error;
  const json = details === undefined ? "" : JSON.stringify(details);
  return {
    ...rest,
    message: truncateText(message, Math.floor(max / 2)),
    ...(fix !== undefined && { fix: truncateText(fix, Math.floor(max / 4)) }),
    ...(details !== undefined && {
      details: json.length <= max / 4 ? details : { preview: truncateText(json, Math.floor(max / 4)) },
    }),
  };
}
