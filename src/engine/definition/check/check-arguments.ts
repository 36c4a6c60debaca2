/** What is passed with a definition to its check: inputs, mocks, and outputs that are given. */
import { hasErrors, prefixPath, type CheckOptions, type LocatedIssue, type Report } from "./check-report.ts";
import { type ExpectedOutputs, outputIssues } from "./given-issues.ts";
import { previewOf } from "./preview.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { CheckedState } from "./state-issues.ts";
import type { CheckedInputs } from "./top-level-issues.ts";

interface Parts {
  steps: readonly ParsedStep[];
  expected: ExpectedOutputs;
  inputs: CheckedInputs;
  state: CheckedState;
  written: Readonly<Record<string, unknown>>;
}

interface CheckedArguments extends Pick<Report, "inputs" | "preview"> {
  issues: LocatedIssue[];
  /** Issues of the definition, found by evaluating it. */
  inDocument: readonly LocatedIssue[];
}

/**
 * Checks the inputs and mocks that were passed with the definition, and evaluates it with the mocks.
 * @param now milliseconds since 1970
 */
export function checkArguments(
  { inputs: passed, mocks, given, selfId }: CheckOptions,
  { steps, expected, inputs, state, written }: Parts,
  now: number,
): CheckedArguments {
  const { validator } = inputs;
  const issues = given === undefined ? [] : outputIssues(given, expected, ["given"]);
  if ((passed === undefined && mocks === undefined) || validator === undefined)
    return { issues, inDocument: [] };
  const parsed = validator.parse(passed ?? {});
  if ("issues" in parsed) issues.push(...parsed.issues.map((issue) => prefixPath(["inputs"], issue)));
  const value = "value" in parsed ? parsed.value : undefined;
  const checked: CheckedArguments = {
    issues,
    inDocument: [],
    ...(value !== undefined && { inputs: value }),
  };
  if (mocks === undefined) return checked;
  issues.push(...outputIssues(mocks, expected, ["mocks"]));
  if (hasErrors(issues) || value === undefined) return checked;
  const { output } = written;
  const result = previewOf({
    steps,
    order: expected.order,
    output,
    inputs: value,
    state,
    mocks,
    selfId,
    now,
  });
  return { ...checked, inDocument: result.issues, preview: result.preview };
}
