/** The sentence of an issue for which no better fix is known: what is allowed. */
import type { LocatedIssue } from "../check/check-report.ts";

/** Maximum number of names in a sentence. */
const MAX_LISTED = 20;

export function withDefaultFix(issue: LocatedIssue): LocatedIssue {
  const isKept = issue.fix !== undefined && !(issue.code === "unknown_key" && issue.patch === undefined);
  return isKept ? issue : { ...issue, fix: defaultFix(issue) };
}

function defaultFix({ code, message, allowed = [], did_you_mean: near }: LocatedIssue): string {
  const list = `${allowed.slice(0, MAX_LISTED).join(", ")}${allowed.length > MAX_LISTED ? ", …" : ""}`;
  if (code === "unknown_key") {
    if (near !== undefined) return `Write it in ${near}, which is set too.`;
    return allowed.length === 0
      ? "Remove it: no other field can be added here."
      : `The fields here are ${list}. Remove the key if none of them says what you mean.`;
  }
  if (near !== undefined) return `Write ${near}.`;
  if (allowed.length > 0) return `Write one of ${list}.`;
  const requirement = /\b(?:must|can) (?!not)(.+?)(?:, got .*|, but .*)?$/.exec(message)?.[1];
  if (requirement === undefined) return "Change the value, or remove the field if nothing needs it.";
  return `Change the value: it must ${requirement}.`;
}
