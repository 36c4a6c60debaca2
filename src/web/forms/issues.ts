/** Assigns the issues that the server reports to the fields of a form, by their paths. */
import type { Issue } from "../../../schemas/problem.ts";
import { ApiError } from "../api/client.ts";
import { endSentence } from "../ui/sentence.ts";

/** @returns the issues that the server reports of a request; none for any other error */
export const issuesOfError = (error: Error | null): readonly Issue[] =>
  error instanceof ApiError ? (error.problem.errors ?? []) : [];

/** Whether fields show why a request failed. @param parts the names of the fields */
export const isShownAt = (error: Error | null, parts: readonly string[]): boolean => {
  const issues = issuesOfError(error);
  return issues.length > 0 && issuesOutside(issues, parts).length === 0;
};

/** @returns the issues of a property or list item and everything below it, with paths relative to it */
export function issuesUnder(issues: readonly Issue[], part: string | number): Issue[] {
  const prefix = typeof part === "number" ? `[${part}]` : part;
  return issues.flatMap((issue) => {
    if (!issue.path.startsWith(prefix)) return [];
    const rest = issue.path.slice(prefix.length);
    if (rest !== "" && rest[0] !== "." && rest[0] !== "[") return [];
    return [{ ...issue, path: rest.replace(/^\./, "") }];
  });
}

/** @returns the issues of the value itself, and of properties or items that have no field */
export const issuesOutside = (issues: readonly Issue[], parts: readonly (string | number)[]): Issue[] =>
  issues.filter((issue) => !parts.some((part) => issuesUnder([issue], part).length > 0));

/** @returns the issues as the text under a field, one per line; undefined if there are none */
export function issueText(issues: readonly Issue[]): string | undefined {
  if (issues.length === 0) return undefined;
  return issues
    .map(({ path, code, message, did_you_mean: near, fix }) => {
      if (code === "missing") return path === "" ? "Required." : `${path} is required.`;
      return joinSentences(
        path === "" ? capitalize(message) : `${path}: ${message}`,
        fix ?? (near && `Did you mean ${near}?`),
      );
    })
    .join("\n");
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const joinSentences = (problem: string, fix?: string): string =>
  fix === undefined ? problem : `${endSentence(problem)} ${fix}`;
