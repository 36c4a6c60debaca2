/** Reports durations of zero where they make no sense. */
import { Duration } from "../../../../schemas/field-values.ts";
import { durationMs } from "../../../core/duration.ts";
import type { PartialIssue } from "../../../core/connections.ts";
import type { ParsedStep } from "./schema-check.ts";
import { prefixPath, type LocatedIssue } from "./check-report.ts";

type Finding = Pick<PartialIssue, "message" | "fix" | "severity">;

const TIMEOUT: Finding = {
  message: "must be longer than 0: nothing can end in no time",
  fix: "Write how long it may take, such as 30s, or remove it.",
};

/** By the field of a step. */
const FINDINGS: Readonly<Record<string, Finding>> = {
  timeout: TIMEOUT,
  cache: {
    message: "must be longer than 0: an output that is kept for no time is never used again",
    fix: "Write how long its output stays valid, such as 10m, or remove it.",
  },
  for: {
    message: "is 0, so the step waits for nothing",
    fix: "Write how long to wait, such as 10m, or remove the step.",
    severity: "warning",
  },
};

/** @param topLevel the definition as it was written */
export function zeroDurationIssues(
  topLevel: Readonly<Record<string, unknown>>,
  steps: readonly ParsedStep[],
): LocatedIssue[] {
  return [
    ...issuesAt(["timeout"], topLevel["timeout"], TIMEOUT),
    ...steps.flatMap(({ raw }, index) =>
      Object.entries(FINDINGS).flatMap(([field, finding]) =>
        issuesAt(["steps", index, field], raw[field], finding),
      ),
    ),
    ...steps.flatMap(({ lookup }, index) =>
      issuesAt(["steps", index, "lookup", "timeout"], lookup?.raw["timeout"], TIMEOUT),
    ),
    ...steps.flatMap(({ raw }, index) =>
      issuesAt(["steps", index, "cache", "for"], durationOf(raw["cache"]), FINDINGS["cache"]!),
    ),
  ];
}

/** The duration of a `cache` with options. */
const durationOf = (cache: unknown): unknown =>
  typeof cache === "object" && cache !== null ? (cache as { for?: unknown }).for : undefined;

/** The schema reports a value that is not a duration. */
const issuesAt = (path: readonly PropertyKey[], written: unknown, finding: Finding): LocatedIssue[] =>
  Duration.safeParse(written).success && durationMs(written as string) === 0
    ? [prefixPath(path, { code: "too_small", ...finding })]
    : [];
