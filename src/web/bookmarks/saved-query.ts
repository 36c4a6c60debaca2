/** The filters of a list as they are saved: the query of its address without the project, which is chosen for all pages. */

const PROJECT = "project";

/** @returns the filters sorted by name, so that equal ones are equal texts; empty for none */
export function savedQuery(params: URLSearchParams): string {
  const filters = new URLSearchParams(params);
  filters.delete(PROJECT);
  filters.sort();
  return filters.toString();
}

/** The query of the address with saved filters in place of the current ones. */
export function withSavedQuery(params: URLSearchParams, query: string): string {
  const next = new URLSearchParams(query);
  const project = params.get(PROJECT);
  if (project !== null) next.set(PROJECT, project);
  return `?${next.toString()}`;
}
