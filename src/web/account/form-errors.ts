/** Maps the errors that the API returns to the fields of a small form. */
import * as texts from "#texts/ui";
import { ApiError } from "../api/client.ts";
import { endSentence } from "../ui/sentence.ts";

/** @returns the text to show at the field with this path; undefined where the field has no issue */
export function issueAt(error: Error | null, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const issue = error.problem.errors?.find((candidate) => candidate.path === path);
  if (issue === undefined) return undefined;
  if (issue.code === "missing") return texts.required;
  const text = issue.fix === undefined ? issue.message : `${endSentence(issue.message)} ${issue.fix}`;
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** @returns the error to show above the form; null if the fields already show all of it */
export function formLevelError(error: Error | null, paths: readonly string[]): Error | null {
  const issues = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  return issues.length > 0 && issues.every(({ path }) => paths.includes(path)) ? null : error;
}

/** @returns the path to open after sign-in. Only paths of this site are accepted, to prevent open redirects. */
export function redirectTarget(search: URLSearchParams): string {
  const to = search.get("to") ?? "/";
  return /^\/(?![/\\\s])/.test(to) ? to : "/";
}

/** @returns the token of a link. It is in the fragment, which browsers do not send, so no server logs it. */
export const tokenFromHash = (hash: string): string => hash.replace(/^#/, "");
