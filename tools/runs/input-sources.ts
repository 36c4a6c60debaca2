/** Takes inputs of a single step from the outputs of earlier runs. */
import type { Issue } from "../../schemas/problem.ts";
import { invalidInput } from "../../src/core/issues.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { findRun } from "./find-run.ts";
import { PATH, valueAt } from "./value-place.ts";

/** A run, and a path into its output: `run_8dkq2m0sfj3a.rows[0].region`. */
const INPUT_SOURCE = new RegExp(`^(?<run>run_[\\w-]+)(?<path>${PATH})$`, "u");

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
