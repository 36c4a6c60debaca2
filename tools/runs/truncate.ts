/** Truncates values to a size that a model can read, with a reference to the whole value. */
import type { RunError } from "../../schemas/run.ts";
import type { ValueText } from "../../src/core/model.ts";
import type { RunReader } from "../../src/core/run-ports.ts";

interface TruncatedValue {
  truncated: true;
  chars: number;
  preview: string;
  ref: string;
}

/**
 * Reads a recorded value: the value itself, or its start if it is longer than `max` characters of JSON.
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
  return value === undefined ? undefined : parseOrTruncate(value, ref, max);
}

function parseOrTruncate({ text, chars }: ValueText, ref: string, max: number): unknown {
  if (chars <= max) return JSON.parse(text);
  return { truncated: true, chars, preview: text.slice(0, max).toWellFormed(), ref } satisfies TruncatedValue;
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
