/** Places of values in runs: references, as `get_run_value` takes them, and paths into the values. */
import type { RunReader } from "../../src/core/run-ports.ts";

export type ValuePlace = Parameters<RunReader["valueText"]>[0];

/** A part of a path: a name of letters of any script, digits, `_` and `-`, or an index. */
const PART = String.raw`\.[\p{L}\p{M}\p{N}_-]+|\[\d{1,6}\]`;
/** A path into a value, as a part of a pattern with the flag `u`: `.rows[0].region`. */
export const PATH = `(?:${PART})*`;

/** Maximum number of names that an issue lists. */
const MAX_LISTED = 50;

const STEP_REF =
  /^steps\.(?<step>(?:undo:)?[a-z][a-z0-9_]{0,63})(?:\.items\.(?<item>\d{1,7}))?\.(?:output|attempts\.(?<attempt>\d{1,7})\.input)$/;

const RUN_VALUES = ["inputs", "output", "state", "committed"] as const;

const isRunValue = (ref: string): ref is (typeof RUN_VALUES)[number] =>
  (RUN_VALUES as readonly string[]).includes(ref);

/** Where a run records the value of a reference, such as `steps.load.items.3.output`; undefined for what is no reference. */
export function placeOf(runId: string, ref: string): ValuePlace | undefined {
  if (isRunValue(ref)) return { runId, what: ref };
  const parts = STEP_REF.exec(ref)?.groups;
  if (parts === undefined) return undefined;
  const { item, attempt } = parts;
  const stepRef = { runId, stepId: parts["step"]!, item: item === undefined ? null : Number(item) };
  return attempt === undefined
    ? { ...stepRef, what: "step_output" }
    : { ...stepRef, what: "attempt_input", attempt: Number(attempt) };
}

/** Follows a path into a value; `.0` is an index too. @returns the value, or what is missing */
export function valueAt(
  output: unknown,
  path: string,
): { value: unknown } | { message: string; allowed?: string[]; fix: string } {
  let value = output;
  let walked = "";
  for (const [part] of path.matchAll(new RegExp(PART, "gu"))) {
    const isIndex = part.startsWith("[") || (Array.isArray(value) && /^\.\d{1,6}$/.test(part));
    const key = isIndex ? Number(part.replace(/[^\d]/g, "")) : part.slice(1);
    const isContainer = isIndex ? Array.isArray(value) : isObject(value);
    if (!isContainer || !Object.hasOwn(value as object, key)) {
      const names = isObject(value) ? Object.keys(value).slice(0, MAX_LISTED) : undefined;
      return {
        message: `has no value at ${walked}${part}: ${walked === "" ? "the output" : walked} is ${describe(value)}`,
        ...(names !== undefined && { allowed: names }),
        fix: "Name a value of the output, as get_run shows it.",
      };
    }
    value = (value as Readonly<Record<string | number, unknown>>)[key];
    walked += part;
  }
  return { value };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function describe(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) return "an object without it";
  return value === null ? "null" : `a ${typeof value}`;
}
