/** The filters of the list of workflows as they stand in its address. */
import type { WorkflowStatus } from "../../../schemas/workflow.ts";

export interface Filters {
  search?: string;
  tag?: string;
  status?: WorkflowStatus;
  sort: Sort;
}

export const SORTS = {
  "-updated_at": "Last changed first",
  "-created_at": "Newest first",
  created_at: "Oldest first",
  name: "Name, A to Z",
  "-name": "Name, Z to A",
} as const;
type Sort = keyof typeof SORTS;
const FIRST: Sort = "-updated_at";

const STATUSES: ReadonlySet<string> = new Set<WorkflowStatus>(["draft", "published", "archived"]);

const MOST_WORDS = 8;
const MOST_CHARACTERS = 200;

/** What the address says; what it says wrongly counts as left out. */
export function parseFilters(parameters: URLSearchParams): Filters {
  const [search, tag, status, sort] = ["search", "tag", "status", "sort"].map(
    (name) => parameters.get(name)?.trim() ?? "",
  ) as [string, string, string, string];
  return {
    ...(search !== "" && searchIssue(search) === undefined && { search }),
    ...(tag !== "" && { tag }),
    ...(STATUSES.has(status) && { status: status as WorkflowStatus }),
    sort: sort in SORTS ? (sort as Sort) : FIRST,
  };
}

/** The address with one filter changed; without what is the same as left out. */
export function withFilter(parameters: URLSearchParams, name: keyof Filters, value: string): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  if (value === "" || (name === "sort" && value === FIRST)) changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** Why the server would refuse it. */
export function searchIssue(search: string): string | undefined {
  if (new Set(search.toLowerCase().split(/\s+/).filter(Boolean)).size > MOST_WORDS)
    return `At most ${MOST_WORDS} different words`;
  return search.length > MOST_CHARACTERS ? `At most ${MOST_CHARACTERS} characters` : undefined;
}

/** Whether anything is left out of the list by choice. */
export const isFiltered = ({ search, tag, status }: Filters): boolean =>
  search !== undefined || tag !== undefined || status !== undefined;
