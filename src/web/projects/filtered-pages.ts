/** The project in the addresses of pages: lists carry it, so that links and the back button keep it. */
import { EVERY_PROJECT } from "../../../schemas/project-ids.ts";

const PARAMETER = "project";

/** The pages that the chosen project filters. */
const FILTERED_PAGES: ReadonlySet<string> = new Set([
  "/",
  "/workflows",
  "/runs",
  "/runs/statistics",
  "/bulk-actions",
  "/approvals",
  "/interruptions",
  "/reviews",
  "/audit",
  "/notifications",
]);

/** Filters that name something of one project, which another one doesn't have. */
const FILTERS_OF_ONE_PROJECT = ["workflow", "run", "tag", "subscription"];

/**
 * Reads the project from the address of a page.
 * @returns a project's id, EVERY_PROJECT, or null where the address has none: it is left out, or the page isn't filtered
 */
export const projectInAddress = (pathname: string, search: string): string | null =>
  FILTERED_PAGES.has(pathname) ? new URLSearchParams(search).get(PARAMETER) : null;

/** Whether a page is filtered, but its address does not say by which project. */
export const lacksProject = (pathname: string, search: string): boolean =>
  FILTERED_PAGES.has(pathname) && projectInAddress(pathname, search) === null;

/** The query of an address with a project. @param project undefined for all of them */
export function withProject(search: string, project: string | undefined): string {
  const params = new URLSearchParams(search);
  params.set(PARAMETER, project ?? EVERY_PROJECT);
  return `?${params.toString()}`;
}

/**
 * The address to open when another project is chosen: the same list, or the list of what the page shows one of.
 * @returns undefined to stay on the page
 */
export function addressAfterChoice(
  pathname: string,
  search: string,
  project: string | undefined,
): string | undefined {
  if (FILTERED_PAGES.has(pathname)) {
    const params = new URLSearchParams(search);
    for (const name of FILTERS_OF_ONE_PROJECT) params.delete(name);
    return pathname + withProject(params.toString(), project);
  }
  const list = pathname.slice(0, pathname.indexOf("/", 1));
  return FILTERED_PAGES.has(list) && pathname !== "/workflows/new"
    ? list + withProject("", project)
    : undefined;
}
