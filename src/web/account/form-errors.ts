/** Which of the server's faults belongs to which field of a small form. */
import { ApiError } from "../api/client.ts";

/** The words for one field, undefined for none. */
export function issueAt(error: Error | null, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const issue = error.problem.errors?.find((it) => it.path === path);
  if (issue === undefined) return undefined;
  const said = `${issue.message}${issue.fix === undefined ? "" : `. ${issue.fix}`}`;
  return said.slice(0, 1).toUpperCase() + said.slice(1);
}

/** The error, if it is not one that stands at a field already. */
export function formLevelError(error: Error | null, paths: readonly string[]): Error | null {
  const all = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  return all.length > 0 && all.every(({ path }) => paths.includes(path)) ? null : error;
}

/** Where to go after signing in: a place of ours, whatever the address says. */
export function redirectTarget(search: URLSearchParams): string {
  const to = search.get("to") ?? "/";
  return /^\/(?![/\\\s])/.test(to) ? to : "/";
}

/** What stands behind the # of a link, out of sight of servers and logs. */
export const tokenFromHash = (hash: string): string => hash.replace(/^#/, "");
