/** The filters of the workflow list, as stored in its URL. */
import * as texts from "#texts/workflows";
import type { WorkflowStatus } from "../../../schemas/workflow.ts";

export interface Filters {
  search?: string;
  tag?: string;
  status?: WorkflowStatus;
  sort: Sort;
}

/** How the list is arranged, as its URL says. */
export const isGrouped = (parameters: URLSearchParams): boolean => parameters.get("group") === "tag";

export const SORTS = {
  "-updated_at": texts.sortUpdated,
  "-created_at": texts.sortNewest,
  created_at: texts.sortOldest,
  name: texts.sortNameUp,
  "-name": texts.sortNameDown,
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
export function withFilter(
  parameters: URLSearchParams,
  name: keyof Filters | "group",
  value: string,
): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  if (value === "" || (name === "sort" && value === DEFAULT_SORT)) changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** Why the server would reject the search; undefined when it is valid. */
export function searchIssue(search: string): string | undefined {
  if (new Set(search.toLowerCase().split(/\s+/).filter(Boolean)).size > MAX_WORDS)
    return texts.tooManyWords({ max: MAX_WORDS });
  return search.length > MAX_CHARACTERS ? texts.tooManyCharacters({ max: MAX_CHARACTERS }) : undefined;
}

/** Whether a filter hides workflows. */
export const isFiltered = ({ search, tag, status }: Filters): boolean =>
  search !== undefined || tag !== undefined || status !== undefined;
