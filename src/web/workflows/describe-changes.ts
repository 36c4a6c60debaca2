/** What differs between two states of a workflow, in words; how its definition differs is the diff's to show. */
import type { Workflow } from "../../../schemas/workflow.ts";

type Content = Pick<Workflow, "name" | "description" | "tags" | "definition">;

/** @returns a sentence for each field that differs; none where the two are the same but for their definitions */
export function describeChanges(before: Content, after: Content): string[] {
  const added = after.tags.filter((tag) => !before.tags.includes(tag));
  const removed = before.tags.filter((tag) => !after.tags.includes(tag));
  const isReordered = added.length + removed.length === 0 && before.tags.join("\n") !== after.tags.join("\n");
  return [
    before.name !== after.name && `The name was “${before.name}”, and became “${after.name}”.`,
    before.description !== after.description && describedChange(before.description, after.description),
    added.length > 0 && `${quoted(added)} ${added.length === 1 ? "was" : "were"} added to the tags.`,
    removed.length > 0 && `${quoted(removed)} ${removed.length === 1 ? "was" : "were"} taken from the tags.`,
    isReordered && "The tags stand in another order.",
  ].filter((sentence) => sentence !== false);
}

function describedChange(before: string, after: string): string {
  if (before === "") return `A description was written: “${after}”`;
  return after === ""
    ? `The description was removed: “${before}”`
    : `The description was “${before}”, and became “${after}”`;
}

const quoted = (tags: readonly string[]): string => tags.map((tag) => `“${tag}”`).join(", ");

/** Whether two definitions say the same; the order of keys says nothing. */
export const isSameDefinition = (a: Content["definition"], b: Content["definition"]): boolean =>
  canonical(a ?? null) === canonical(b ?? null);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
