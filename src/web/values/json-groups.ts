/** Prepares JSON for the tree view: splits long lists and objects into groups, and truncates long strings. */
import * as texts from "#texts/values";

/** Maximum number of children of a node. */
const GROUP_SIZE = 100;
/** Longer strings are truncated, in UTF-16 code units. */
const MAX_STRING_CHARS = 5_000;
/** A value with at most this many nodes is shown fully expanded. */
const SMALL_TREE_NODES = 60;

/** @returns the value with groups named by their first and last index, as in "[100 … 199]" */
export function groupForTree(value: unknown): unknown {
  if (typeof value === "string")
    return value.length <= MAX_STRING_CHARS
      ? value
      : texts.longString({
          beginning: value.slice(0, MAX_STRING_CHARS).toWellFormed(),
          count: value.length,
        });
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(groupForTree);
    return items.length <= GROUP_SIZE ? items : splitIntoGroups(items, 0, (part) => part);
  }
  const fields = Object.entries(value).map(([key, field]) => [key, groupForTree(field)] as const);
  return fields.length <= GROUP_SIZE
    ? Object.fromEntries(fields)
    : splitIntoGroups(fields, 0, (part) => Object.fromEntries(part));
}

/** @param first index of the first child, from 0 */
function splitIntoGroups<T>(children: readonly T[], first: number, toNode: (part: T[]) => unknown): unknown {
  const groups: Record<string, unknown> = {};
  // Groups are nested until no level has more than GROUP_SIZE entries.
  let size = GROUP_SIZE;
  while (children.length / size > GROUP_SIZE) size *= GROUP_SIZE;
  for (let at = 0; at < children.length; at += size) {
    const part = children.slice(at, at + size);
    groups[`[${first + at} … ${first + at + part.length - 1}]`] =
      part.length > GROUP_SIZE ? splitIntoGroups(part, first + at, toNode) : toNode(part);
  }
  return groups;
}

/** Whether a value is small enough to be shown fully expanded. */
export function isSmallTree(value: unknown): boolean {
  let remaining = SMALL_TREE_NODES;
  const walk = (node: unknown): boolean => {
    remaining -= 1;
    if (remaining < 0) return false;
    return typeof node !== "object" || node === null || Object.values(node).every(walk);
  };
  return walk(value);
}
