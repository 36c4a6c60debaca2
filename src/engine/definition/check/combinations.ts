/** Reports fields of a step that have no effect together with its others, and unknown error codes in `retry.on`. */
import { nearMatch } from "../../../core/near-match.ts";
import { STEP_ERROR_CODES } from "../../../core/step-errors.ts";
import type { ParsedStep } from "./schema-check.ts";
import { type LocatedIssue, prefixPath } from "./check-report.ts";

/** Fields without an effect on step types that wait for an event: their attempts end at once. */
const INEFFECTIVE: Readonly<Record<string, readonly string[]>> = {
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
      message: "has no effect without for_each: it limits how many items run at a time",
      fix: "Remove it, or add for_each.",
      patch: [{ op: "remove", path: at("concurrency") }],
    });
  if ("repeat" in raw && "for_each" in raw)
    issues.push({
      path: at("repeat"),
      code: "not_allowed",
      message: "can't be combined with for_each: a step runs once per item, or repeatedly",
      fix: "Move the repeated step into a workflow of its own, and run that for each item with a workflow step.",
    });
  // The output of a step that waits for an event (a time, a person, another run) is not valid for the next run.
  if ("cache" in raw && type?.timeoutMs === null && type.compute === undefined)
    issues.push({
      path: at("cache"),
      code: "not_allowed",
      message: `has no effect on a step of the type ${type.type}: its output can't be reused`,
      fix: "Remove it.",
      patch: [{ op: "remove", path: at("cache") }],
    });
  else if ("cache" in raw && !isCachedDespiteEffects(raw["cache"]) && hasEffects(step))
    issues.push({
      path: at("cache"),
      code: "not_allowed",
      message: "must not be set on a step with effects: they would not happen while its output is reused",
      fix: "Remove it, or, if the effects may be left out, write cache: { for: 1h, despite_effects: true }.",
    });
  if ("rate" in raw && (type?.compute !== undefined || type?.type === "wait"))
    issues.push({
      path: at("rate"),
      code: "not_allowed",
      message: `has no effect on a step of the type ${type.type}: it calls nothing`,
      fix: "Move it to the step that makes the calls.",
    });
  const waitsForEvent = type?.type === "wait" && "event" in raw;
  if (waitsForEvent)
    for (const field of ["for_each", "repeat"].filter((name) => name in raw))
      issues.push({
        path: at(field),
        code: "not_allowed",
        message: "can't be combined with event: a step has one URL, which accepts one event",
        fix: "Put the wait into a workflow of its own, and run that once for each item with a workflow step.",
      });
  const ineffective = waitsForEvent ? ["retry"] : (INEFFECTIVE[type?.type ?? ""] ?? []);
  for (const field of ineffective.filter((name) => name in raw))
    issues.push({
      path: at(field),
      code: "not_allowed",
      message: `has no effect on a step of the type ${type!.type}: ${field === "retry" ? "its attempt can't fail" : "its own fields say how long it waits"}`,
      fix: "Remove it.",
      patch: [{ op: "remove", path: at(field) }],
    });
  issues.push(...retryCodeIssues(raw).map((issue) => prefixPath(at(), issue)));
  return issues;
}

/** Reports unknown error codes in the `retry.on` of a step, with paths below the step. */
export function retryCodeIssues({ retry }: ParsedStep["raw"]): LocatedIssue[] {
  const on = (retry as { on?: unknown } | null | undefined)?.on;
  if (!Array.isArray(on)) return [];
  return (on as unknown[]).flatMap((code, place) => errorCodeIssues(code, ["retry", "on", place]));
}

const hasEffects = ({ type, parsed }: ParsedStep): boolean =>
  type !== undefined && parsed !== undefined && type.hasEffects(parsed);

const isCachedDespiteEffects = (cache: unknown): boolean =>
  (cache as { despite_effects?: unknown } | null)?.despite_effects === true;

function errorCodeIssues(code: unknown, path: PropertyKey[]): LocatedIssue[] {
  if (typeof code !== "string" || (STEP_ERROR_CODES as string[]).includes(code)) return [];
  const near = nearMatch(code, STEP_ERROR_CODES);
  return [
    {
      path,
      code: "not_allowed",
      message: "is not the error code of a step",
      allowed: [...STEP_ERROR_CODES],
      ...(near !== undefined && { did_you_mean: near, fix: `Write ${near}.` }),
    },
  ];
}
