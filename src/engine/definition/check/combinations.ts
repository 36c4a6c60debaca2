/** Fields of a step that make no sense together, and words that are known elsewhere. */
import { nearMatch } from "../../../core/near-match.ts";
import { STEP_ERROR_CODES } from "../../../core/step-errors.ts";
import type { ParsedStep } from "./schema-check.ts";
import type { LocatedIssue } from "./check-report.ts";

/** Types whose attempts end at once and wait for something outside: what would never have an effect on them. */
const ENDLESS: Readonly<Record<string, readonly string[]>> = {
  wait: ["retry", "timeout"],
  approval: ["retry"],
};

export function combinationIssues(step: ParsedStep, index: number): LocatedIssue[] {
  const { raw, type } = step;
  const at = (...path: PropertyKey[]): PropertyKey[] => ["steps", index, ...path];
  const issues: LocatedIssue[] = [];
  if ("concurrency" in raw && !("for_each" in raw))
    issues.push({
      path: at("concurrency"),
      code: "not_allowed",
      message: "only means something together with for_each: it says how many items run at a time",
      fix: "Leave it out, or add for_each.",
    });
  // What ends outside of its own code (a moment, a person, another run) has no output that could stand for the next.
  if ("cache" in raw && type?.timeoutMs === null && type.instant !== true)
    issues.push({
      path: at("cache"),
      code: "not_allowed",
      message: `makes no sense on ${type.type}: it waits for something that happens anew each time`,
      fix: "Leave it out.",
    });
  const waiting = ENDLESS[type?.type ?? ""] ?? [];
  for (const field of waiting.filter((name) => name in raw))
    issues.push({
      path: at(field),
      code: "not_allowed",
      message: `makes no sense on ${type!.type}: ${field === "retry" ? "there is nothing that could fail and be repeated" : "it waits as long as it says itself"}`,
      fix: field === "retry" ? "Leave it out; a failed run is retried as a whole." : "Leave it out.",
    });
  const on = (raw["retry"] as { on?: unknown } | undefined)?.on;
  if (Array.isArray(on))
    for (const [place, code] of (on as unknown[]).entries())
      issues.push(...codeFaults(code, at("retry", "on", place)));
  return issues;
}

function codeFaults(code: unknown, path: PropertyKey[]): LocatedIssue[] {
  if (typeof code !== "string" || (STEP_ERROR_CODES as string[]).includes(code)) return [];
  const near = nearMatch(code, STEP_ERROR_CODES);
  return [
    {
      path,
      code: "not_allowed",
      message: "is not the code of any error of a step",
      allowed: [...STEP_ERROR_CODES],
      ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
    },
  ];
}
