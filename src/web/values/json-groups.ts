/** JSON made fit for a tree: long lists and objects in groups that open one by one, long texts cut. */

/** So many children stand under one node; more of them in groups. */
const GROUP = 100;
const TEXT_CHARS = 5_000;
/** A tree of so few nodes is shown opened. */
const SMALL = 60;

/** The same value for a tree. Groups are named by their first and last place, as in "[100 … 199]". */
export function groupForTree(value: unknown): unknown {
  if (typeof value === "string")
    return value.length <= TEXT_CHARS
      ? value
      : `${value.slice(0, TEXT_CHARS).toWellFormed()}… (${value.length.toLocaleString("en")} characters)`;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(groupForTree);
    return items.length <= GROUP ? items : inGroups(items, 0, (part) => part);
  }
  const fields = Object.entries(value).map(([key, field]) => [key, groupForTree(field)] as const);
  return fields.length <= GROUP
    ? Object.fromEntries(fields)
    : inGroups(fields, 0, (part) => Object.fromEntries(part));
}

/** @param first the place of the first child, counted from 0 */
function inGroups<T>(children: readonly T[], first: number, show: (part: T[]) => unknown): unknown {
  const groups: Record<string, unknown> = {};
  // A group of groups, as long as there are more than fit.
  let size = GROUP;
  while (children.length / size > GROUP) size *= GROUP;
  for (let at = 0; at < children.length; at += size) {
    const part = children.slice(at, at + size);
    groups[`[${first + at} … ${first + at + part.length - 1}]`] =
      part.length > GROUP ? inGroups(part, first + at, show) : show(part);
  }
  return groups;
}

/** Whether a value is small enough to be shown opened at every level. */
export function isSmallTree(value: unknown): boolean {
  let left = SMALL;
  const walk = (node: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    return typeof node !== "object" || node === null || Object.values(node).every(walk);
  };
  return walk(value);
}
