/** The filters of the workflow list, as stored in its URL. */
import { searchTerms } from "../../../schemas/fold-text.ts";
import type { WorkflowStatus } from "../../../schemas/workflow.ts";

export interface Filters {
  search?: string;
  tag?: string;
  status?: WorkflowStatus;
  sort: Sort;
}

export const SORTS = {
  "-updated_at": "Recently updated",
  "-created_at": "Newest first",
  created_at: "Oldest first",
  name: "Name, A to Z",
  "-name": "Name, Z to A",
} as const;
type Sort = keyof typeof SORTS;
const DEFAULT_SORT: Sort = "-updated_at";

const STATUSES: ReadonlySet<string> = new Set<WorkflowStatus>(["draft", "published", "archived"]);

const MAX_WORDS = 8;
const MAX_CHARACTERS = 200;

/** Parses the URL. Invalid values are ignored. */
export function parseFilters(parameters: URLSearchParams): Filters {
  const [search, tag, status, sort] = ["search", "tag", "status", "sort"].map(
    (name) => parameters.get(name)?.trim() ?? "",
  ) as [string, string, string, string];
  return {
    ...(search !== "" && searchIssue(search) === undefined && { search }),
    ...(tag !== "" && { tag }),
    ...(STATUSES.has(status) && { status: status as WorkflowStatus }),
    sort: sort in SORTS ? (sort as Sort) : DEFAULT_SORT,
  };
}

/** The URL parameters with one filter changed. Defaults are omitted. */
export function withFilter(parameters: URLSearchParams, name: keyof Filters, value: string): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  if (value === "" || (name === "sort" && value === DEFAULT_SORT)) changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** Why the server would reject the search; undefined when it is valid. */
export function searchIssue(search: string): string | undefined {
  if (searchTerms(search).length > MAX_WORDS) return `At most ${MAX_WORDS} different words`;
  return search.length > MAX_CHARACTERS ? `At most ${MAX_CHARACTERS} characters` : undefined;
}

/** Whether a filter hides workflows. */
export const isFiltered = ({ search, tag, status }: Filters): boolean =>
  search !== undefined || tag !== undefined || status !== undefined;
