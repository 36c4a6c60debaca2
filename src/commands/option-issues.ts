/** Issues of an operation's input as issues of the options that it was made of. */
import type { Issue } from "../../schemas/problem.ts";
import { AppError } from "../core/errors.ts";
import { invalidInput } from "../core/issues.ts";

/** The option of each field of the input, by the path of the field. */
type Options = Readonly<Record<string, string>>;

/** The issue with the option in place of the path: `--project` for `projects[0]`. */
export function withOptions(issue: Issue, options: Options): Issue {
  const option = options[issue.path.replace(/\[\d+\]$/, "")];
  return option === undefined ? issue : { ...issue, path: option };
}

/**
 * Runs `work`, and names the options in the issues that it ends with.
 * @throws AppError what `work` throws
 */
export async function namingOptions<T>(options: Options, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "invalid_input") throw error;
    throw invalidInput((error.details.errors ?? []).map((issue) => withOptions(issue, options)));
  }
}
