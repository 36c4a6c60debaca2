/** The workflows that a change would break, as the refusal of the change names them. */
import * as texts from "#texts/workflows";
import type { Issue } from "../../../schemas/problem.ts";
import { ApiError } from "../api/client.ts";

/** Stands for the callers in projects that the user can't see. */
export const OTHER_PROJECTS = "*";

export interface BrokenCaller {
  id: string;
  issues: Issue[];
}

/** The callers that a refusal names; empty for any other error. */
export const brokenCallersOf = (error: unknown): BrokenCaller[] =>
  error instanceof ApiError && error.code === "callers_would_break"
    ? callersIn(error.problem.errors ?? [])
    : [];

/** @param issues the one of `break_callers` has all ids; the path of each other one begins with the id of its workflow */
export function callersIn(issues: readonly Issue[]): BrokenCaller[] {
  const ids = issues.find(({ path }) => path === "break_callers")?.allowed ?? [];
  // Ids can contain dots, so one can be the beginning of another.
  const longestFirst = ids.toSorted((a, b) => b.length - a.length);
  const ownerOf = ({ path }: Issue) => longestFirst.find((id) => path.startsWith(`${id}.`));
  return ids.map((id) => ({
    id,
    issues: issues
      .filter((issue) => ownerOf(issue) === id)
      .map((issue) => Object.assign({}, issue, { path: issue.path.slice(id.length + 1) })),
  }));
}

/** Names the callers in a sentence. */
export const namedCallers = (callers: readonly BrokenCaller[]): string =>
  callers.map(({ id }) => (id === OTHER_PROJECTS ? texts.inProjectsYouCantSee : id)).join(", ");
