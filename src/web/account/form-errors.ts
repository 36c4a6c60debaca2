/** Maps the errors that the API returns to the fields of a small form. */
import { ApiError } from "../api/client.ts";
import { issueText } from "../forms/issues.ts";

/** @returns the text to show at the field with this path; undefined where the field has no issue */
export function issueAt(error: Error | null, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const issue = error.problem.errors?.find((candidate) => candidate.path === path);
  return issue && issueText([{ ...issue, path: "" }]);
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
