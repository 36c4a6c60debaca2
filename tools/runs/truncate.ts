/** Cutting values to a size that a model can read, with a way to the whole. */
import type { RunError } from "../../schemas/run.ts";
import type { RunReader, ValueText } from "../../src/core/run-ports.ts";

interface Cut {
  truncated: true;
  chars: number;
  preview: string;
  ref: string;
}

/**
 * A recorded value: itself, or its beginning where it is longer than `max` characters of JSON.
 * @param ref what `get_run_value` knows it by
 * @returns undefined where there is none
 */
export async function truncateValue(
  runs: Pick<RunReader, "valueText">,
  at: Parameters<RunReader["valueText"]>[0],
  ref: string,
  max: number,
): Promise<unknown> {
  const value = await runs.valueText(at, { from: 0, chars: max });
  return value === undefined ? undefined : cut(value, ref, max);
}

function cut({ text, chars }: ValueText, ref: string, max: number): unknown {
  if (chars <= max) return JSON.parse(text);
  return { truncated: true, chars, preview: text.slice(0, max).toWellFormed(), ref } satisfies Cut;
}

export const isTruncated = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "truncated" in value && "ref" in value && "preview" in value;

/** What is not recorded anywhere else has no ref: its beginning must do. */
export function truncateText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}… (${text.length} characters)`;
}

/** An error in at most about `max` characters. */
export function truncateError(error: RunError, max: number): RunError {
  const { message, fix, details, ...rest } = error;
  const facts = details === undefined ? "" : JSON.stringify(details);
  return {
    ...rest,
    message: truncateText(message, Math.floor(max / 2)),
    ...(fix !== undefined && { fix: truncateText(fix, Math.floor(max / 4)) }),
    ...(details !== undefined && {
      details: facts.length <= max / 4 ? details : { preview: truncateText(facts, Math.floor(max / 4)) },
    }),
  };
}
