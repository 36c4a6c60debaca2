/** Reports durations beyond the maxima of the operator. */
import { Duration } from "../../../../schemas/field-values.ts";
import { durationMs } from "../../../core/duration.ts";
import { type DurationLimits, timeoutLimitOf } from "../../../core/duration-limits.ts";
import type { LocatedIssue } from "./check-report.ts";
import type { ParsedStep } from "./schema-check.ts";

type Path = readonly PropertyKey[];

/** The pauses of a step, each with its path in the step. */
const PAUSES: readonly Path[] = [
  ["retry", "initial"],
  ["retry", "max"],
  ["repeat", "every"],
  ["cache"],
  ["cache", "for"],
  ["remind"],
  ["escalate", "after"],
];

/**
 * @param topLevel the definition as it was written
 * @param steps with the steps inside them
 */
export function durationIssues(
  topLevel: Readonly<Record<string, unknown>>,
  steps: readonly ParsedStep[],
  limits: DurationLimits,
): LocatedIssue[] {
  const issuesAt = (path: Path, written: unknown, limit: keyof DurationLimits): LocatedIssue[] => {
    const maximum = limits[limit];
    // The schema reports a value that is not a duration.
    if (!Duration.safeParse(written).success || durationMs(written as string) <= durationMs(maximum))
      return [];
    return [
      {
        path,
        code: "duration_too_long",
        message: `must be at most ${maximum}, which the operator has set (limits.${limit}), got ${String(written)}`,
        fix: `Write ${maximum} or less.`,
        patch: [{ op: "replace", path, value: maximum }],
      },
    ];
  };
  const ofStep = ({ raw, type, undo, lookup }: ParsedStep, path: Path): LocatedIssue[] => [
    ...(type === undefined ? [] : issuesAt([...path, "timeout"], raw["timeout"], timeoutLimitOf(type))),
    ...PAUSES.flatMap((pause) => issuesAt([...path, ...pause], valueAt(raw, pause), "max_wait")),
    ...(undo === undefined ? [] : ofStep(undo, [...path, "undo"])),
    ...(lookup === undefined ? [] : ofStep(lookup, [...path, "lookup"])),
  ];
  return [
    ...issuesAt(["timeout"], topLevel["timeout"], "max_wait"),
    ...steps.flatMap((step, index) => ofStep(step, ["steps", index])),
  ];
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
