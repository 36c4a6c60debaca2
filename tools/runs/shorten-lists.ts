/** Shortens the lists of a value, such as the rows of a query, to a few items: their form and size say more than a cut text. */
import { formatPath } from "../../src/core/issues.ts";

/** Numbers of items that are tried, the most first. */
const ITEM_COUNTS = [20, 10, 5, 3, 1];
/** Maximum number of lists that are named. With more of them a cut text says as much. */
const MAX_LISTS = 10;

/**
 * @param max maximum size of the preview, in characters of JSON
 * @returns the value's JSON with shortened lists, and the lengths of these by their path (`rows`; empty for the value itself);
 *   undefined if shortening lists does not make it small enough
 */
export function shortenLists(
  value: unknown,
  max: number,
): { preview: string; lists: Record<string, number> } | undefined {
  for (const count of ITEM_COUNTS) {
    const lists = new Map<string, number>();
    const preview = JSON.stringify(shorten(value, count, [], lists));
    if (lists.size > MAX_LISTS) continue;
    if (preview.length <= max && lists.size > 0) return { preview, lists: Object.fromEntries(lists) };
  }
  return undefined;
}

function shorten(
  value: unknown,
  count: number,
  path: readonly PropertyKey[],
  lists: Map<string, number>,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) {
    const fields = Object.entries(value);
    return Object.fromEntries(
      fields.map(([key, inner]) => [key, shorten(inner, count, [...path, key], lists)]),
    );
  }
  if (value.length > count) lists.set(formatPath(path), value.length);
  return value.slice(0, count).map((item, index) => shorten(item, count, [...path, index], lists));
}
