/** Reads values of the runs in a list: parts of their inputs and outputs, and of the outputs of their steps. */
import type { Issue } from "../../schemas/problem.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { RunReader } from "../../src/core/run-ports.ts";
import { PATH, placeOf, valueAt } from "./value-place.ts";

/** Maximum size of all values in an answer, and of each, in characters of JSON; and the size up to which each is shown in any case. */
const MAX_CHARS = 30_000;
const MAX_VALUE_CHARS = 2_000;
const MIN_VALUE_CHARS = 60;
/**
 * Maximum size of a recorded value that is parsed, and of all that a request parses, in characters of JSON: about 30 ms of work. Values of
 * up to `MAX_VALUE_CHARS` are always parsed, and not counted: they are read in any case, for their preview.
 */
const MAX_PARSED_CHARS = 262_144;
const MAX_PARSED_TOGETHER = 4_194_304;

/** As expressions write it: `inputs.region`, `output.rows[0].total`, `steps.load.count`, `steps.send.items[3].id`. */
const LISTED_PATH = new RegExp(
  String.raw`^(?:(?<whole>inputs|output|state|committed)|steps\.(?<step>[a-z][a-z0-9_]{0,63})` +
    String.raw`(?:\.items(?:\.(?<number>\d{1,7})|\[(?<index>\d{1,7})\])(?![^.[]))?)(?<path>${PATH})$`,
  "u",
);
/** The path after a step or item that is named like its reference, `steps.load.output`. */
const BELOW_OUTPUT = /^\.output(?<path>(?:[.[].*)?)$/su;

/** A value of each run. */
export interface ListedPath {
  /** As the caller wrote it. */
  name: string;
  /** The reference of the recorded value that it is a part of, as `get_run_value` takes it. */
  ref: string;
  /**
   * The paths in that value, of which the first that leads to a value counts. `steps.load.output.id` is the field `output` of the output of
   * the step, as in expressions; where that has no such value, `output` is the output itself, as in references.
   */
  paths: readonly string[];
}

/** @throws AppError invalid_input with an issue for each path that can't be read */
export function listedPaths(names: readonly string[]): ListedPath[] {
  const issues: Issue[] = [];
  const paths: ListedPath[] = [];
  for (const [index, name] of names.entries()) {
    const parts = LISTED_PATH.exec(name)?.groups;
    if (parts === undefined)
      issues.push({
        path: `values[${index}]`,
        code: "wrong_format",
        message: "must be a path into inputs, output, state, committed or steps.<id>",
        fix: "Write it like output.total, inputs.region, steps.load.rows[0].id or steps.send.items[3].id.",
      });
    else {
      const { whole, step, number, index: item = number, path = "" } = parts;
      const ofStep = `steps.${step}${item === undefined ? "" : `.items.${item}`}.output`;
      const below = whole === undefined ? BELOW_OUTPUT.exec(path)?.groups?.["path"] : undefined;
      paths.push({ name, ref: whole ?? ofStep, paths: below === undefined ? [path] : [path, below] });
    }
  }
  if (issues.length > 0) throw invalidInput(issues);
  return paths;
}

/** The value of a path in the recorded value of its reference. */
export const listedValue = (recorded: unknown, { paths }: ListedPath): { value: unknown } | undefined =>
  paths.map((path) => valueAt(recorded, path)).find((place) => "value" in place);

/**
 * Reads values of several runs.
 * @returns for each run its values by the names of their paths, without those that it doesn't have. A large one is
 * `{truncated: true, chars, preview, ref}`.
 */
export async function readListedValues(
  runs: Pick<RunReader, "valueText">,
  ids: readonly string[],
  paths: readonly ListedPath[],
): Promise<Record<string, unknown>[]> {
  const share = Math.floor(MAX_CHARS / Math.max(1, ids.length * paths.length));
  const max = Math.min(MAX_VALUE_CHARS, Math.max(MIN_VALUE_CHARS, share));
  let left = MAX_PARSED_TOGETHER;

  async function readParts(id: string, ref: string, parts: readonly ListedPath[]) {
    const at = placeOf(id, ref)!;
    const start = await runs.valueText(at, { from: 0, chars: MAX_VALUE_CHARS });
    if (start === undefined) return [];
    const { chars } = start;
    // Stores may count characters otherwise than strings do, so only the whole text has all units.
    const isWhole = start.text.length === chars;
    if (!isWhole && chars > Math.min(left, MAX_PARSED_CHARS))
      return parts.map(({ name }) => [name, truncated(start.text, chars)] as const);
    if (!isWhole) left -= chars;
    const value = isWhole ? start : await runs.valueText(at, { from: 0, chars });
    // The run may be purged between the two.
    if (value?.text.length !== chars) return [];
    const whole: unknown = JSON.parse(value.text);
    return parts.flatMap((part) => {
      const found = listedValue(whole, part);
      if (found === undefined) return [];
      const json = JSON.stringify(found.value);
      return [[part.name, json.length <= max ? found.value : truncated(json, json.length)] as const];
    });

    function truncated(json: string, length: number) {
      return { truncated: true, chars: length, preview: json.slice(0, max).toWellFormed(), ref };
    }
  }

  const byRef = Map.groupBy(paths, ({ ref }) => ref);
  const values: Record<string, unknown>[] = [];
  for (const id of ids) {
    const found = new Map<string, unknown>();
    for (const [ref, parts] of byRef)
      for (const [name, value] of await readParts(id, ref, parts)) found.set(name, value);
    // In the order in which they were asked for.
    values.push(
      Object.fromEntries(paths.flatMap(({ name }) => (found.has(name) ? [[name, found.get(name)]] : []))),
    );
  }
  return values;
}
