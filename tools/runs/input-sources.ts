/** Takes inputs of a single step from the outputs of earlier runs. */
import type { Issue } from "../../schemas/problem.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";

/** A run, and a path into its output: `run_8dkq2m0sfj3a.rows[0].region`. */
const INPUT_SOURCE = /^(?<run>run_[\w-]+)(?<path>(?:\.[A-Za-z_]\w*|\[\d{1,6}\])*)$/;

/** Maximum number of names that an issue lists. */
const MAX_LISTED = 50;

/**
 * Reads the values that `from` names.
 * @returns them by the names of the inputs
 * @throws AppError run_not_found, missing_scope; invalid_input where a run has not succeeded, or has no such value
 */
export async function readInputSources(
  ctx: ToolContext,
  from: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const outputs = new Map<string, unknown>();
  const values: Record<string, unknown> = {};
  const issues: Issue[] = [];
  for (const [name, source] of Object.entries(from)) {
    const { run: id, path = "" } = INPUT_SOURCE.exec(source)?.groups ?? {};
    if (id === undefined) {
      issues.push({
        path: `from.${name}`,
        code: "wrong_format",
        message: "must be the id of a run and a path into its output",
        fix: "Write it like run_8dkq2m0sfj3a.rows[0].id.",
      });
      continue;
    }
    const { status } = await findRun(ctx.read.runs, id);
    if (status !== "succeeded") {
      issues.push({
        path: `from.${name}`,
        code: "no_output",
        message: `names the run ${id}, which has no output: it is ${status}`,
        fix: "Take the value from a run that has succeeded.",
      });
      continue;
    }
    if (!outputs.has(id)) outputs.set(id, await ctx.read.runs.runOutput(id));
    const found = valueAt(outputs.get(id), path);
    if ("value" in found) values[name] = found.value;
    else issues.push({ path: `from.${name}`, code: "not_found", ...found });
  }
  if (issues.length > 0) throw invalidInput(issues);
  return values;
}

/** Follows a path into a value. @returns the value, or what is missing */
function valueAt(
  output: unknown,
  path: string,
): { value: unknown } | { message: string; allowed?: string[]; fix: string } {
  let value = output;
  let walked = "";
  for (const [part] of path.matchAll(/\.\w+|\[\d+\]/g)) {
    const isIndex = part.startsWith("[");
    const key = isIndex ? Number(part.slice(1, -1)) : part.slice(1);
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
