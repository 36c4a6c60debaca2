/** Separates entries of lists that have issues from the rest, which can be used without them. */
import type { UnusableEntry } from "../../schemas/config.ts";
import type { LocatedIssue } from "../core/issues.ts";

type List = UnusableEntry["list"];

const LISTS: ReadonlySet<unknown> = new Set<List>(["databases", "models", "mcp_servers", "secrets"]);

/** Whether an issue concerns one entry of a list of connections or secrets. */
export const isOfEntry = (path: readonly PropertyKey[]): boolean =>
  LISTS.has(path[0]) && typeof path[1] === "number";

/**
 * Removes the entries that have issues.
 * @param raw the file's value, whose lists are lists
 * @param issues issues of entries only
 * @param describe writes an issue as a clause that begins with its path
 * @returns the rest, and the entries without use that have a name; all entries that share the name of one are among them,
 *   since it is not known which one is meant
 */
export function withoutUnusableEntries(
  raw: unknown,
  issues: readonly LocatedIssue[],
  describe: (issue: LocatedIssue) => string,
): { usable: unknown; unusable: UnusableEntry[] } {
  const root = raw as Readonly<Record<string, unknown>>;
  const usable: Record<string, unknown> = { ...root };
  const unusable: UnusableEntry[] = [];
  for (const list of new Set(issues.map(({ path }) => path[0] as List))) {
    const entries = root[list] as readonly unknown[];
    const own = issues.filter(({ path }) => path[0] === list);
    const names = new Set(own.map(({ path }) => nameOf(entries[path[1] as number])));
    const indexes = new Set(own.map(({ path }) => path[1] as number));
    usable[list] = entries.filter((entry, index) => !indexes.has(index) && !names.has(nameOf(entry)));
    for (const name of names) {
      if (name === undefined) continue;
      const found = own.filter(({ path }) => nameOf(entries[path[1] as number]) === name);
      unusable.push({ list, name, issues: found.map(describe) });
    }
  }
  return { usable, unusable };
}

const nameOf = (entry: unknown): string | undefined => {
  const name = (entry as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : undefined;
};
